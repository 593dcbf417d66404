package record

import "strconv"

// rejectItem appends what jsonl and tsv write for a record that was rejected
// before its URLs were read. If rec is nil, it is not shown.
func (w *Worker) rejectItem(out, rec []byte, why Reason, pos int, at Position) []byte {
	switch {
	case w.job.render == RenderTSV && w.job.wants.has(fError):
		return w.rejectRow(out, rec, why, at)
	case w.job.render != RenderJSONL:
		return out
	}
	out = append(append(out, `{"error":"`...), why.String()...)
	out = append(out, `",`...)
	if why == Unparsed {
		out = appendNumber(out, "at", int64(pos))
	}
	if rec != nil {
		out = appendMember(out, "record", w.rawRecord(rec))
	}
	return closeObject(w.appendPosition(out, at))
}

// appendPosition appends the members file and line.
func (w *Worker) appendPosition(out []byte, at Position) []byte {
	if at.Name != "" {
		out = appendMember(out, "file", w.word(at.Name))
	}
	return appendNumber(out, "line", at.Line)
}

// rejectRow appends the fields of a rejected record: those that are not about a
// URL.
func (w *Worker) rejectRow(out, rec []byte, why Reason, at Position) []byte {
	for i, f := range w.job.fields {
		if i > 0 {
			out = append(out, '\t')
		}
		switch f {
		case fError:
			out = append(out, why.String()...)
		case fRecord:
			out = appendTSV(out, w.rawRecord(rec))
		case fFile:
			out = appendTSV(out, w.word(at.Name))
		case fLine:
			out = strconv.AppendInt(out, at.Line, 10)
		case fOffset:
			out = strconv.AppendInt(out, at.Off, 10)
		case fProfile:
			out = appendTSV(out, w.job.profile)
		}
	}
	return append(out, '\n')
}

// deadLine appends the dead letter of a record: a JSON object with reason,
// offset in the record, place, and the record with its line end. Key and record
// are what it takes to put the record back where it came from.
func (w *Worker) deadLine(dead, rec []byte, v *verdict, at Position) []byte {
	dead = append(append(dead, `{"reason":"`...), v.bad.String()...)
	dead = append(dead, `",`...)
	if v.bad == Flagged {
		dead = appendMember(dead, "flag", w.word(v.flag.String()))
	}
	dead = appendNumber(dead, "at", int64(v.at))
	dead = w.appendKeyOf(w.appendPosition(dead, at), at)
	dead = appendNumber(dead, "offset", at.Off)
	if w.job.redact {
		rec = w.redactRecord(rec)
	}
	return closeObject(appendMember(dead, "record", rec))
}

// appendKeyOf appends the key of the message, if it has one.
func (w *Worker) appendKeyOf(dead []byte, at Position) []byte {
	key := at.Key
	if key == nil {
		return dead
	}
	if w.job.redact {
		key = w.hideAll(key)
	}
	return appendMember(dead, "key", key)
}

// deadPiece appends the dead letter of an oversize record: where it lies,
// without its bytes.
func (w *Worker) deadPiece(dead []byte, at Position) []byte {
	dead = append(append(dead, `{"reason":"`...), TooLong.String()...)
	dead = append(dead, `",`...)
	dead = w.appendKeyOf(w.appendPosition(dead, at), at)
	if w.pieceStart >= 0 {
		dead = appendNumber(dead, "offset", w.pieceStart)
		dead = appendNumber(dead, "length", w.pieceEnd-w.pieceStart)
	}
	return closeObject(appendNumber(dead, "end", w.pieceEnd))
}
