package record

import "strconv"

// rejectItem appends the output of the jsonl, tsv and parquet renderings for a record
// that was rejected before its URLs were read. If rec is nil, the output does
// not include the record.
func (r *renderer) rejectItem(out, rec []byte, why Reason, pos int, at *Position) []byte {
	switch {
	case (r.job.render == RenderTSV || r.job.render == RenderCSV) && r.job.wants.has(fError):
		return r.rejectRow(out, rec, why, at)
	case r.job.render == RenderParquet && r.job.wants.has(fError):
		return r.rejectColumns(out, rec, why, pos, at)
	case r.job.render != RenderJSONL:
		return out
	}
	out = append(append(out, `{"error":"`...), why.String()...)
	out = append(out, `",`...)
	if why == Unparsed {
		out = appendNumber(out, "at", int64(pos))
	}
	if rec != nil {
		out = appendMember(out, "record", r.v.rawRecord(rec))
	}
	return closeObject(r.appendPosition(out, at))
}

// appendPosition appends the members file and line.
func (r *renderer) appendPosition(out []byte, at *Position) []byte {
	if at.Name != "" {
		out = appendMember(out, "file", r.v.word(at.Name))
	}
	return appendNumber(out, "line", at.Line)
}

// rejectRow appends the row of a rejected record. It fills in only the fields
// that do not need a URL.
func (r *renderer) rejectRow(out, rec []byte, why Reason, at *Position) []byte {
	for i, f := range r.job.fields {
		if i > 0 {
			out = append(out, r.job.separator())
		}
		switch f {
		case fError:
			out = append(out, why.String()...)
		case fRecord:
			out = r.cell(out, r.v.rawRecord(rec))
		case fFile:
			out = r.cell(out, r.v.word(at.Name))
		case fLine:
			out = strconv.AppendInt(out, at.Line, 10)
		case fOffset:
			out = strconv.AppendInt(out, at.Off, 10)
		case fProfile, fKeyID, fParamsEdition, fPSLEdition, fUnicode, fSpecDate:
			out = r.cell(out, r.job.constants[f])
		}
	}
	return append(r.job.noteCell(out, r.job.separator()), '\n')
}

// deadLine appends the dead letter of a record: a JSON object with the reason,
// the offset in the record, the record position, and the record with its line
// end. The message key and the record suffice to put the record back where it
// came from.
func (r *renderer) deadLine(dead, rec []byte, v *verdict, at *Position) []byte {
	dead = append(append(dead, `{"reason":"`...), v.bad.String()...)
	dead = append(dead, `",`...)
	if v.bad == Flagged {
		dead = appendMember(dead, "flag", r.v.word(v.flag.String()))
	}
	dead = appendNumber(dead, "at", int64(v.at))
	dead = r.appendKeyOf(r.appendPosition(dead, at), at)
	dead = appendNumber(dead, "offset", at.Off)
	if r.job.redact {
		rec = r.red.redactRecord(rec)
	}
	return closeObject(appendMember(dead, "record", rec))
}

// appendKeyOf appends the message key, if the record has one.
func (r *renderer) appendKeyOf(dead []byte, at *Position) []byte {
	key := at.Key
	if key == nil {
		return dead
	}
	if r.job.redact {
		key = r.red.hideAll(key)
	}
	return appendMember(dead, "key", key)
}

// deadPiece appends the dead letter of an oversize record: its position and
// length, without its bytes.
func (r *renderer) deadPiece(dead []byte, at *Position, start, end int64) []byte {
	dead = append(append(dead, `{"reason":"`...), TooLong.String()...)
	dead = append(dead, `",`...)
	dead = r.appendKeyOf(r.appendPosition(dead, at), at)
	if start >= 0 {
		dead = appendNumber(dead, "offset", start)
		dead = appendNumber(dead, "length", end-start)
	}
	return closeObject(appendNumber(dead, "end", end))
}
