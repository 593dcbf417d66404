package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// MsgpackFormat is the format of MessagePack values:
// https://github.com/msgpack/msgpack/blob/master/spec.md. A message holds one
// value, and a file any number of values without separators.
type MsgpackFormat struct{}

// Name implements [locate.Format].
func (MsgpackFormat) Name() string { return "msgpack" }

// Detect implements [locate.Format]. A file fits if its first values are maps
// whose first keys are names. No text starts with the first byte of a map,
// because in UTF-8 these bytes continue a character.
func (MsgpackFormat) Detect(s *locate.Sample) locate.Fit {
	maps := 0
	for b := s.Head; len(b) > 0; maps++ {
		if !beginsNamedMap(b) {
			return locate.Fit{}
		}
		n, state := skipMsgpack(b, 1)
		if state != msgpackSound {
			if maps == 0 || state == msgpackDamaged {
				return locate.Fit{}
			}
			break
		}
		b = b[n:]
	}
	if maps == 0 {
		return locate.Fit{}
	}
	return locate.Fit{Records: max(1, len(s.Records)), Certainty: locate.LooksUnmistakable}
}

// Unlined implements [locate.Unlined].
func (MsgpackFormat) Unlined() locate.Reader {
	return &MsgpackReader{binaryFraming: binaryFraming{msgpackSpan, msgpackLength}}
}

// beginsNamedMap reports whether the first value of b is a map whose first key
// is a printable string.
func beginsNamedMap(b []byte) bool {
	h := readMsgpack(b)
	if h.kind != msgpackMap || h.n == 0 {
		return false
	}
	key := readMsgpack(b[h.len:])
	if key.kind != msgpackStr || key.n == 0 || key.n > int64(len(b)-h.len-key.len) {
		return false
	}
	name := b[h.len+key.len:][:key.n]
	return utf8.Valid(name) && bytes.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

// Open implements [locate.Format].
func (MsgpackFormat) Open(c *locate.Settings) (locate.Reader, error) {
	r := &MsgpackReader{binaryFraming: binaryFraming{msgpackSpan, msgpackLength}}
	var err error
	r.path, err = parsePath(c, "msgpack")
	return r, errors.Join(err, checkBinary(c))
}

// MsgpackReader reads MessagePack values.
type MsgpackReader struct {
	binaryFraming
	path []jsonlines.Step
}

// Locator implements [locate.Reader].
func (r *MsgpackReader) Locator() locate.Locator { return r }

// AppendLength implements [locate.BinaryReader]. It writes the shortest
// form, as the specification recommends, but it keeps a form that is longer
// than necessary. The writer of the record did not use the shorter form,
// maybe because its readers lack str 8, which is the newest form.
func (*MsgpackReader) AppendLength(dst, field []byte, n int) []byte {
	old := readMsgpack(field)
	form, used := msgpackForm(old.kind, int64(n)), field[0]
	if used > 0xc0 && used > msgpackForm(old.kind, old.n) {
		form = max(form, used)
	}
	switch form {
	default:
		return append(dst, form|byte(n))
	case 0xd9, 0xc4:
		return append(dst, form, byte(n))
	case 0xda, 0xc5:
		return binary.BigEndian.AppendUint16(append(dst, form), uint16(n))
	case 0xdb, 0xc6:
		return binary.BigEndian.AppendUint32(append(dst, form), uint32(n))
	}
}

// msgpackForm returns the first byte of the shortest header of a string or of
// binary data of n bytes. For a fixstr, the byte lacks the length.
func msgpackForm(kind msgpackKind, n int64) byte {
	form := byte(0xd9)
	switch {
	case kind == msgpackBin:
		form = 0xc4
	case n < 32:
		return 0xa0
	}
	switch {
	case n > 0xffff:
		return form + 2
	case n > 0xff:
		return form + 1
	}
	return form
}

// Locate implements [locate.Locator]. The offset of an error is the position of
// the damage. In a truncated record, this is the length of the record. If more
// bytes follow the value in a message, it is the end of the value.
func (r *MsgpackReader) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	w := msgpackWalk{b: rec, left: 1}
	found := true
	for i := 0; i < len(r.path) && found; i++ {
		found = w.enter(&r.path[i])
	}
	at := w.pos
	w.skip()
	if w.state != msgpackSound || w.pos < len(rec) {
		return locate.Unparsed, w.pos
	}
	if !found {
		return locate.NoField, 0
	}
	switch h := readMsgpack(rec[at:]); h.kind {
	case msgpackStr, msgpackBin:
		f.AddCounted(locate.Between(at, at+h.len), at+h.len+int(h.n), -1)
	case msgpackNil:
	default:
		return locate.NoField, at
	}
	return 0, 0
}

// msgpackWalk reads one value of a record from start to end.
type msgpackWalk struct {
	b     []byte
	pos   int
	left  int64 // number of values from pos to the end of the outermost value
	state msgpackState
}

// enter moves from the start of a value to the start of its member or element
// st. If the value has no such member or element, enter returns false and moves
// to the end of the value. If several members have the same name, the first one
// counts.
func (w *msgpackWalk) enter(st *jsonlines.Step) bool {
	h := readMsgpack(w.b[w.pos:])
	want := msgpackMap
	if st.Name == nil {
		want = msgpackArray
	}
	if h.kind != want || h.n > int64(len(w.b)) {
		w.one()
		return false
	}
	w.pos += h.len
	w.left--
	if st.Name == nil {
		w.left += h.n
		if int64(st.Index) < h.n {
			w.some(int64(st.Index))
			return w.state == msgpackSound
		}
		w.some(h.n)
		return false
	}
	w.left += 2 * h.n
	for range h.n {
		same := w.isName(st.Name)
		if w.one(); w.state != msgpackSound {
			return false
		}
		if same {
			return true
		}
		if w.one(); w.state != msgpackSound {
			return false
		}
	}
	return false
}

// isName reports whether the value at pos is a string or binary data equal to
// name.
func (w *msgpackWalk) isName(name []byte) bool {
	h := readMsgpack(w.b[w.pos:])
	rest := w.b[min(len(w.b), w.pos+h.len):]
	return (h.kind == msgpackStr || h.kind == msgpackBin) && h.n == int64(len(name)) && bytes.HasPrefix(rest, name)
}

// one skips one value, some skips n values, and skip all that are left.
func (w *msgpackWalk) one()  { w.some(1) }
func (w *msgpackWalk) skip() { w.some(w.left) }

func (w *msgpackWalk) some(n int64) {
	if w.state != msgpackSound {
		return
	}
	var k int
	k, w.state = skipMsgpack(w.b[w.pos:], n)
	w.pos += k
	w.left -= n
}

// msgpackState is the result of skipping values.
type msgpackState uint8

const (
	msgpackSound   msgpackState = iota
	msgpackCut                  // the values continue after the available bytes
	msgpackDamaged              // a byte begins no value
)

// skipMsgpack returns the length of the first n values of b, or the offset at
// which they are damaged. It needs no stack: a map or an array only adds to the
// number of values to skip.
func skipMsgpack(b []byte, n int64) (pos int, _ msgpackState) {
	for ; n > 0; n-- {
		if n > int64(len(b)-pos) { // a value has at least one byte
			return len(b), msgpackCut
		}
		if c := b[pos]; c < 0x80 || c >= 0xe0 { // an integer, the most common value
			pos++
			continue
		}
		h := readMsgpack(b[pos:])
		switch h.kind {
		case msgpackInvalid:
			return pos, msgpackDamaged
		case msgpackShort:
			return len(b), msgpackCut
		case msgpackMap:
			n += 2 * h.n
		case msgpackArray:
			n += h.n
		default:
			if h.n > int64(len(b)-pos-h.len) {
				return len(b), msgpackCut
			}
			pos += int(h.n)
		}
		pos += h.len
	}
	return pos, msgpackSound
}

// msgpackSpan is the span of a binaryFraming.
func msgpackSpan(block []byte) int {
	n, state := skipMsgpack(block, 1)
	switch state {
	case msgpackCut:
		return 0
	case msgpackDamaged:
		return -1
	}
	return n
}

// msgpackLength returns the length of a first value that is neither a map nor
// an array; these state only how many values they have.
func msgpackLength(block []byte) int64 {
	if h := readMsgpack(block); h.kind > msgpackArray {
		return int64(h.len) + h.n
	}
	return 0
}

// msgpackKind is a kind of value.
type msgpackKind uint8

const (
	msgpackShort   msgpackKind = iota // the header is cut
	msgpackInvalid                    // no value starts with this byte
	msgpackMap
	msgpackArray
	msgpackNil
	msgpackStr
	msgpackBin
	msgpackOther // a number, a boolean or an extension
)

// msgpackHeader is the beginning of a value.
type msgpackHeader struct {
	kind msgpackKind
	len  int   // number of bytes up to the data, keys or elements
	n    int64 // number of bytes of data, of pairs of a map, or of elements of an array
}

// readMsgpack reads the header of the value at the start of b.
func readMsgpack(b []byte) msgpackHeader {
	if len(b) == 0 {
		return msgpackHeader{}
	}
	c := b[0]
	switch {
	case c < 0x80 || c >= 0xe0:
		return msgpackHeader{msgpackOther, 1, 0}
	case c < 0x90:
		return msgpackHeader{msgpackMap, 1, int64(c & 0xf)}
	case c < 0xa0:
		return msgpackHeader{msgpackArray, 1, int64(c & 0xf)}
	case c < 0xc0:
		return msgpackHeader{msgpackStr, 1, int64(c & 0x1f)}
	}
	t := &msgpackTypes[c-0xc0]
	h := msgpackHeader{t.kind, 1 + int(t.size) + int(t.extra), int64(t.fixed)}
	switch {
	case len(b) < h.len:
		return msgpackHeader{}
	case t.size == 1:
		h.n = int64(b[1])
	case t.size == 2:
		h.n = int64(binary.BigEndian.Uint16(b[1:]))
	case t.size == 4:
		h.n = int64(binary.BigEndian.Uint32(b[1:]))
	}
	return h
}

// msgpackType describes the values that begin with a byte from 0xc0 to 0xdf.
type msgpackType struct {
	kind  msgpackKind
	size  uint8 // number of bytes with the length
	extra uint8 // number of bytes after the length, with the type of an extension
	fixed uint8 // number of bytes of data if there is no length
}

var msgpackTypes = [32]msgpackType{
	{msgpackNil, 0, 0, 0}, {msgpackInvalid, 0, 0, 0}, {msgpackOther, 0, 0, 0}, {msgpackOther, 0, 0, 0}, // nil, never used, false, true
	{msgpackBin, 1, 0, 0}, {msgpackBin, 2, 0, 0}, {msgpackBin, 4, 0, 0}, // bin 8, 16, 32
	{msgpackOther, 1, 1, 0}, {msgpackOther, 2, 1, 0}, {msgpackOther, 4, 1, 0}, // ext 8, 16, 32
	{msgpackOther, 0, 0, 4}, {msgpackOther, 0, 0, 8}, // float 32, 64
	{msgpackOther, 0, 0, 1}, {msgpackOther, 0, 0, 2}, {msgpackOther, 0, 0, 4}, {msgpackOther, 0, 0, 8}, // uint 8, 16, 32, 64
	{msgpackOther, 0, 0, 1}, {msgpackOther, 0, 0, 2}, {msgpackOther, 0, 0, 4}, {msgpackOther, 0, 0, 8}, // int 8, 16, 32, 64
	{msgpackOther, 0, 1, 1}, {msgpackOther, 0, 1, 2}, {msgpackOther, 0, 1, 4}, {msgpackOther, 0, 1, 8}, {msgpackOther, 0, 1, 16}, // fixext 1, 2, 4, 8, 16
	{msgpackStr, 1, 0, 0}, {msgpackStr, 2, 0, 0}, {msgpackStr, 4, 0, 0}, // str 8, 16, 32
	{msgpackArray, 2, 0, 0}, {msgpackArray, 4, 0, 0}, // array 16, 32
	{msgpackMap, 2, 0, 0}, {msgpackMap, 4, 0, 0}, // map 16, 32
}
