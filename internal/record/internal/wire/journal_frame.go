package wire

import (
	"bytes"
	"encoding/binary"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
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
	name  locate.Span
	size  locate.Span // the length of the value; not set if the field is a line
	value locate.Span
}

// line returns the range of the value without a line end.
func (f *journalField) line(b []byte) locate.Span {
	return locate.Between(f.value.Start, f.value.Start+len(locate.TrimEnd(f.value.In(b))))
}

// Limits of a field, as systemd-journal-remote has them: of its name and of its
// value in bytes.
const (
	MaxJournalName  = 64
	maxJournalValue = 768 << 20
)

// JournalSize is the length of the field with the length of a value.
const JournalSize = 8

// readJournalField reads the field that begins at pos, which is less than
// len(b). end is the offset after the field, the offset of the damage if the
// field is damaged, or len(b) if the field is cut. The range of a value that is
// cut ends where its stated length ends.
func readJournalField(b []byte, pos int) (f journalField, end int, state locate.HeaderState) {
	if f.name, state = readJournalName(b, pos); state == locate.HeaderDamaged {
		return f, pos, state
	} else if state == locate.HeaderCut {
		return f, len(b), state
	}
	at := f.name.End + 1
	if b[f.name.End] == '=' {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return f, len(b), locate.HeaderCut
		}
		f.value = locate.Between(at, at+n)
		return f, f.value.End + 1, locate.HeaderSound
	}
	if len(b)-at < JournalSize {
		return f, len(b), locate.HeaderCut
	}
	n := binary.LittleEndian.Uint64(b[at:])
	if n > maxJournalValue {
		return f, at, locate.HeaderDamaged
	}
	f.size = locate.Between(at, at+JournalSize)
	f.value = locate.Between(f.size.End, f.size.End+int(n))
	switch end = f.value.End; {
	case end >= len(b):
		return f, len(b), locate.HeaderCut
	case b[end] != '\n':
		return f, end, locate.HeaderDamaged
	}
	return f, end + 1, locate.HeaderSound
}

// readJournalName reads the name of the field that begins at pos, up to the '='
// or the line feed.
func readJournalName(b []byte, pos int) (locate.Span, locate.HeaderState) {
	for i, c := range b[pos:min(len(b), pos+MaxJournalName+1)] {
		switch {
		case isJournalLetter[c]:
		case (c == '=' || c == '\n') && i > 0 && !locate.IsDigit(b[pos]):
			return locate.Between(pos, pos+i), locate.HeaderSound
		default:
			return locate.Span{}, locate.HeaderDamaged
		}
	}
	if len(b)-pos > MaxJournalName {
		return locate.Span{}, locate.HeaderDamaged
	}
	return locate.Span{}, locate.HeaderCut
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
	state locate.HeaderState
	end   int   // length of the entry, including the empty line, if it is intact
	from  int   // where to look for the next entry if this one is not intact
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
		if state != locate.HeaderSound {
			e.state, e.from = state, max(pos, f.name.End)
			if state == locate.HeaderCut {
				e.least = int64(max(len(b), f.value.End) + len(JournalEnd))
			}
			return e
		}
		if visit != nil {
			visit(f)
		}
		pos = end
	}
	return journalEntry{state: locate.HeaderCut, from: max(0, len(b)-1), least: int64(len(b) + 1)}
}

// JournalEnd is the end of an entry.
var JournalEnd = []byte("\n\n")

// Cut implements [locate.Framing]. It stops after a damaged entry.
func (r *JournalReader) Cut(block []byte) int { return locate.CutByLength(r, block) }

// Head implements [locate.Framing].
func (*JournalReader) Head([]byte) int { return 0 }

// Next implements [locate.Reader].
func (*JournalReader) Next(in []byte) int {
	if n := locate.LineEnds(in); n > 0 {
		return n
	}
	if e := readJournal(in, nil); e.state == locate.HeaderSound {
		return e.end
	}
	return len(in)
}

// Span implements [locate.LengthFraming].
func (r *JournalReader) Span(block []byte, last bool) (n int, sound bool) {
	if n := locate.LineEnds(block); n > 0 {
		if n == len(block) && !last {
			return 0, true
		}
		return n, true
	}
	e := readJournal(block, nil)
	switch {
	case e.state == locate.HeaderSound:
		return e.end, true
	case e.state == locate.HeaderCut && !last:
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

// Length implements [locate.LengthFraming]. An entry states only the lengths of its
// values, so the result is the shortest length that it can have.
func (*JournalReader) Length(block []byte) int64 {
	e := readJournal(block, nil)
	if e.state == locate.HeaderSound {
		return int64(e.end)
	}
	return e.least
}

// AtLeast marks a framing whose records can be longer than Length returns.
func (*JournalReader) AtLeast() {}

// Ends implements [locate.LengthFraming]. A single line feed ends only a field,
// not an entry.
func (*JournalReader) Ends(rec []byte) bool { return len(rec) == 0 || bytes.HasSuffix(rec, JournalEnd) }

// Incomplete implements [locate.LengthFraming].
func (*JournalReader) Incomplete(block []byte) bool {
	return readJournal(block, nil).state == locate.HeaderCut
}

// Resync implements [locate.LengthFraming].
func (*JournalReader) Resync(block []byte) (n int, found bool) {
	for at := 0; ; at-- {
		i := bytes.Index(block[at:], JournalEnd)
		if i < 0 {
			return max(0, len(block)-1), false
		}
		at += i + len(JournalEnd)
		switch _, state := readJournalName(block, at); state {
		case locate.HeaderSound:
			return at, true
		case locate.HeaderCut:
			return at - len(JournalEnd), false
		}
	}
}
