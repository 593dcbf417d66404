package record

import (
	"bytes"
	"encoding/binary"
)

// This file finds where journal entries end. A damaged entry extends to the next
// empty line that a field follows:
//
//	A=b LF MESSAGE LF 5,0,0,0,0,0,0,0 hello LF LF │ A=c LF …
//	                            entry, empty line ▲
//
//	A=b LF MESSAGE LF 4,0,0,0,0,0,0,0 hello LF LF │ A=c LF …
//	                    no line feed there ▲      ▲ end of the damaged entry

// journalField is a field of an entry.
type journalField struct {
	name  span
	size  span // the length of the value; not set if the field is a line
	value span
}

// line returns the range of the value without a line end.
func (f *journalField) line(b []byte) span {
	return span{f.value.start, f.value.start + len(trimEnd(f.value.in(b)))}
}

// Limits of a field, as systemd-journal-remote has them: of its name and of its
// value in bytes.
const (
	maxJournalName  = 64
	maxJournalValue = 768 << 20
)

// journalSize is the length of the field with the length of a value.
const journalSize = 8

// readJournalField reads the field that begins at pos, which is less than
// len(b). It returns the offset after the field. If the field is damaged, that
// is the offset of the damage, and if it is cut, len(b). A value that is cut
// has the end that its length states.
func readJournalField(b []byte, pos int) (f journalField, end int, state headerState) {
	if f.name, state = readJournalName(b, pos); state == headerDamaged {
		return f, pos, state
	} else if state == headerCut {
		return f, len(b), state
	}
	at := f.name.end + 1
	if b[f.name.end] == '=' {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return f, len(b), headerCut
		}
		f.value = span{at, at + n}
		return f, f.value.end + 1, headerSound
	}
	if len(b)-at < journalSize {
		return f, len(b), headerCut
	}
	n := binary.LittleEndian.Uint64(b[at:])
	if n > maxJournalValue {
		return f, at, headerDamaged
	}
	f.size = span{at, at + journalSize}
	f.value = span{f.size.end, f.size.end + int(n)}
	switch end = f.value.end; {
	case end >= len(b):
		return f, len(b), headerCut
	case b[end] != '\n':
		return f, end, headerDamaged
	}
	return f, end + 1, headerSound
}

// readJournalName reads the name of the field that begins at pos, up to the '='
// or the line feed after it.
func readJournalName(b []byte, pos int) (span, headerState) {
	for i, c := range b[pos:min(len(b), pos+maxJournalName+1)] {
		switch {
		case isJournalLetter[c]:
		case (c == '=' || c == '\n') && i > 0 && !isDigit(b[pos]):
			return span{pos, pos + i}, headerSound
		default:
			return span{}, headerDamaged
		}
	}
	if len(b)-pos > maxJournalName {
		return span{}, headerDamaged
	}
	return span{}, headerCut
}

// isJournalLetter is the set journalLetters.
var isJournalLetter = func() (set [256]bool) {
	for _, c := range []byte(journalLetters) {
		set[c] = true
	}
	return set
}()

// journalEntry is the result of reading an entry.
type journalEntry struct {
	state headerState
	end   int   // length of the entry, including the empty line, if it is intact
	from  int   // where to look for the next entry if it is not
	least int64 // the shortest length that the entry can have if it is cut, else 0
}

// readJournal reads the entry at the start of b, and calls visit for each field
// unless it is nil.
func readJournal(b []byte, visit func(journalField)) (e journalEntry) {
	for pos := 0; pos < len(b); {
		if b[pos] == '\n' && pos > 0 {
			return journalEntry{end: pos + 1}
		}
		f, end, state := readJournalField(b, pos)
		if state != headerSound {
			e.state, e.from = state, max(pos, f.name.end)
			if state == headerCut {
				e.least = int64(max(len(b), f.value.end) + len(journalEnd))
			}
			return e
		}
		if visit != nil {
			visit(f)
		}
		pos = end
	}
	return journalEntry{state: headerCut, from: max(0, len(b)-1), least: int64(len(b) + 1)}
}

// journalEnd is the end of an entry.
var journalEnd = []byte("\n\n")

// Cut implements [Framing]. It stops after a damaged entry.
func (r *journalReader) Cut(block []byte) int { return cutByLength(r, block) }

// Head implements [Framing].
func (*journalReader) Head([]byte) int { return 0 }

// Next implements [Reader].
func (*journalReader) Next(in []byte) int {
	if n := lineEnds(in); n > 0 {
		return n
	}
	if e := readJournal(in, nil); e.state == headerSound {
		return e.end
	}
	return len(in)
}

// Span implements [LengthFraming].
func (r *journalReader) Span(block []byte, last bool) (n int, sound bool) {
	if n := lineEnds(block); n > 0 {
		if n == len(block) && !last {
			return 0, true
		}
		return n, true
	}
	e := readJournal(block, nil)
	switch {
	case e.state == headerSound:
		return e.end, true
	case e.state == headerCut && !last:
		return 0, false
	}
	n, found := r.Resync(block[e.from:])
	switch {
	case found:
		return e.from + n, false
	case last:
		return len(block), false
	}
	return 0, false
}

// Length implements [LengthFraming]. An entry states only the lengths of its
// values, so the result is the shortest length that it can have.
func (*journalReader) Length(block []byte) int64 {
	e := readJournal(block, nil)
	if e.state == headerSound {
		return int64(e.end)
	}
	return e.least
}

// AtLeast marks a framing whose records can be longer than Length returns.
func (*journalReader) AtLeast() {}

// Ends implements [LengthFraming]. A single line feed can end a field only.
func (*journalReader) Ends(rec []byte) bool { return len(rec) == 0 || bytes.HasSuffix(rec, journalEnd) }

// Incomplete implements [LengthFraming].
func (*journalReader) Incomplete(block []byte) bool {
	return readJournal(block, nil).state == headerCut
}

// Resync implements [LengthFraming].
func (*journalReader) Resync(block []byte) (n int, found bool) {
	for at := 0; ; at-- {
		i := bytes.Index(block[at:], journalEnd)
		if i < 0 {
			return max(0, len(block)-1), false
		}
		at += i + len(journalEnd)
		switch _, state := readJournalName(block, at); state {
		case headerSound:
			return at, true
		case headerCut:
			return at - len(journalEnd), false
		}
	}
}
