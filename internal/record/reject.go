package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// rejectItem appends the output for a record that was rejected before its URLs
// were read, if the rendering writes fields. If rec is nil, the output does not
// include the record.
func (r *renderer) rejectItem(out, rec []byte, why Reason, pos int, at *Position) []byte {
	r.n.cur = reading{why: why, errAt: pos, hash: -1}
	switch {
	case (r.job.render == RenderTSV || r.job.render == RenderCSV) && r.job.wants.has(fError):
		return r.rejectRow(out, rec, at)
	case r.job.render.HasColumns() && r.job.wants.has(fError):
		if !why.IsMisfit() {
			r.n.cur.errAt = absentNumber
		}
		present := ofReject
		if rec == nil {
			present &^= 1 << fRecord
		}
		return r.columns(out, &noSite, rec, at, present)
	case r.job.render != RenderJSONL:
		return out
	}
	out = append(append(out, `{"error":"`...), why.String()...)
	out = append(out, `",`...)
	if why.IsMisfit() {
		out = appendNumber(out, "at", int64(pos))
	}
	if rec != nil {
		out = locate.AppendMember(out, "record", r.v.rawRecord(rec))
	}
	return closeObject(r.appendPosition(out, at))
}

// ofReject is the set of fields that do not need a URL.
const ofReject fieldSet = 1<<fError | 1<<fRecord | 1<<fFile | 1<<fLine | 1<<fOffset | ofJob

// appendPosition appends the members file and line.
func (r *renderer) appendPosition(out []byte, at *Position) []byte {
	if at.Name != "" {
		out = locate.AppendMember(out, "file", r.v.word(at.Name))
	}
	return appendNumber(out, "line", at.Line)
}

// rejectRow appends the row of a rejected record, with the fields in ofReject.
func (r *renderer) rejectRow(out, rec []byte, at *Position) []byte {
	for i, f := range r.job.fields {
		if i > 0 {
			out = append(out, r.job.separator())
		}
		if ofReject.has(f) {
			v, _ := r.v.plainValue(f, &noSite, rec, at)
			out = r.cell(out, v)
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
		dead = locate.AppendMember(dead, "flag", r.v.word(v.flag.String()))
	}
	dead = appendNumber(dead, "at", int64(v.at))
	dead = r.appendKeyOf(r.appendPosition(dead, at), at)
	dead = appendNumber(dead, "offset", at.Off)
	if r.job.redact {
		rec = r.red.redactRecord(rec)
	}
	return closeObject(locate.AppendMember(dead, "record", rec))
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
	return locate.AppendMember(dead, "key", key)
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

// leastCut is the minimum length of the record in a cut dead letter, in bytes
// of its JSON text. A shorter piece is not worth its space.
const leastCut = 64

// The starts of the member record, which is the last one of a dead letter. No
// JSON string contains these texts, because the quotes in it are escaped.
const (
	deadRecord   = `,"record":"`
	deadRecord64 = `,"record_b64":"`
)

// CutDeadLetter appends a shorter form of a dead letter, a line written by a
// [Worker], to dst. Each cut halves the record, and adds the members truncated,
// length and sha256 about the whole record; the last cut removes the record and
// the message key. If the dead letter cannot be cut further, or is not one,
// CutDeadLetter returns dst unchanged.
func CutDeadLetter(dst, letter []byte) []byte {
	mark, in64 := deadRecord, false
	head, text, found := bytes.Cut(letter, []byte(mark))
	if !found {
		mark, in64 = deadRecord64, true
		head, text, found = bytes.Cut(letter, []byte(mark))
	}
	text, whole := bytes.CutSuffix(text, []byte("\"}\n"))
	if !found || !whole {
		return cutKey(dst, letter)
	}
	short := text[:len(text)/2&^3]
	if !in64 {
		short = text[:jsonPrefix(text, len(text)/2)]
	}
	start := len(dst)
	dst = append(dst, head...)
	if !bytes.Contains(head, []byte(`,"truncated":true,`)) {
		dst = appendWhole(dst, text, in64)
	}
	if len(short) < leastCut {
		letter = append(bytes.Clone(dst[start:]), '}', '\n')
		if least := cutKey(dst[:start], letter); len(least) > start {
			return least
		}
		return append(dst[:start], letter...)
	}
	return append(append(append(dst, mark...), short...), '"', '}', '\n')
}

// appendWhole appends the members that describe the whole record, given as the
// text of its JSON string.
func appendWhole(dst, text []byte, in64 bool) []byte {
	var rec []byte
	if in64 {
		rec, _ = base64.StdEncoding.AppendDecode(nil, text) // written by AppendBase64
	} else {
		var s string
		_ = json.Unmarshal(append(append([]byte{'"'}, text...), '"'), &s) // written by AppendString
		rec = []byte(s)
	}
	sum := sha256.Sum256(rec)
	dst = appendNumber(append(dst, `,"truncated":true,`...), "length", int64(len(rec)))
	dst = append(dst, `"sha256":"`...)
	return append(hex.AppendEncode(dst, sum[:]), '"')
}

// jsonPrefix returns the length of the longest prefix of text, the inside of a
// JSON string, that has at most n bytes and splits no escape and no character.
func jsonPrefix(text []byte, n int) int {
	end := 0
	for end < n {
		size := 2
		switch {
		case text[end] != '\\':
			_, size = utf8.DecodeRune(text[end:])
		case text[end+1] == 'u':
			size = 6
		}
		if end+size > n {
			break
		}
		end += size
	}
	return end
}

// cutKey appends letter without its message key to dst. Without a key, cutKey
// returns dst unchanged.
func cutKey(dst, letter []byte) []byte {
	for _, mark := range [...]string{`,"key":"`, `,"key_b64":"`} {
		head, rest, found := bytes.Cut(letter, []byte(mark))
		if !found {
			continue
		}
		i := 0
		for i < len(rest)-1 && rest[i] != '"' {
			if rest[i] == '\\' {
				i++
			}
			i++
		}
		return append(append(dst, head...), rest[i+1:]...)
	}
	return dst
}
