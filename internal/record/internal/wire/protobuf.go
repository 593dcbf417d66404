package wire

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// ProtobufFormat is the format of Protocol Buffers messages:
// https://protobuf.dev/programming-guides/encoding/. It needs no schema: a path
// of field numbers leads to the URL. In a file, each message follows its length
// as a varint, as in the delimited streams of the Protobuf libraries.
type ProtobufFormat struct{}

// Name implements [locate.Format].
func (ProtobufFormat) Name() string { return "protobuf" }

// Detect implements [locate.Format]. The encoding says too little about itself to be
// detected.
func (ProtobufFormat) Detect(*locate.Sample) locate.Fit { return locate.Fit{} }

// Open implements [locate.Format].
func (ProtobufFormat) Open(c *locate.Settings) (locate.Reader, error) {
	r := &ProtobufReader{binaryFraming: binaryFraming{protobufSpan, protobufLength}}
	var err error
	r.path, err = parseNumbers(c.URLField)
	return r, errors.Join(locate.About("URLField", err), checkBinary(c))
}

// maxProtobufField is the largest field number.
const maxProtobufField = 1<<29 - 1

// parseNumbers parses a path of field numbers with dots between them.
func parseNumbers(text string) (path []uint64, err error) {
	if text == "" {
		return nil, errors.New("missing: protobuf needs the numbers of the field with the URL and of the messages around it, such as 3 or 3.1")
	}
	for digits := range strings.SplitSeq(text, ".") {
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || n < 1 || n > maxProtobufField {
			return nil, fmt.Errorf("invalid path of field numbers %q: must be numbers from 1 to %d with dots between them, such as 3.1", text, maxProtobufField)
		}
		path = append(path, n)
	}
	if len(path) > maxProtobufDepth {
		return nil, fmt.Errorf("invalid path of field numbers: must have at most %d numbers", maxProtobufDepth)
	}
	return path, nil
}

// maxProtobufDepth is the maximum number of messages or groups inside each
// other, as in the Protobuf libraries.
const maxProtobufDepth = 100

// ProtobufReader reads Protobuf messages.
type ProtobufReader struct {
	binaryFraming
	path []uint64
}

// Locator implements [locate.Reader].
func (r *ProtobufReader) Locator() locate.Locator { return r }

// AppendLength implements [locate.BinaryReader].
func (*ProtobufReader) AppendLength(dst, _ []byte, n int) []byte {
	return appendUvarint(dst, uint64(n))
}

// Locate implements [locate.Locator]. The offset of an error points to the
// first damaged byte or, if a message is cut, is its length.
func (r *ProtobufReader) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	w := protobufWalk{f: f, b: rec, path: r.path}
	outer := -1
	if at.Message {
		w.pos = confluentProtobuf(rec)
	} else {
		n, size := w.uvarint(len(rec))
		if size == 0 || n != uint64(len(rec)-w.pos) {
			return locate.Unparsed, len(rec)
		}
		outer = f.AddLength(locate.Between(0, w.pos), len(rec), -1)
	}
	if w.message(len(rec), 0, outer) {
		return 0, 0
	}
	return w.why, w.pos
}

// confluentProtobuf returns the length of the header that the serializers of
// Confluent write before a message: a zero byte, which cannot begin a message;
// the id of the schema in four bytes; and the path to the message type in the
// schema, as zigzag varints: the number of elements, then the elements. See
// https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format.
func confluentProtobuf(rec []byte) int {
	const idEnd = 5
	if len(rec) <= idEnd || rec[0] != 0 {
		return 0
	}
	w := protobufWalk{b: rec, pos: idEnd}
	count, size := w.uvarint(len(rec))
	for count /= 2; size > 0 && count > 0; count-- {
		_, size = w.uvarint(len(rec))
	}
	if size == 0 {
		return 0
	}
	return w.pos
}

// protobufWalk reads the fields of a record.
type protobufWalk struct {
	f    *locate.Found
	b    []byte
	path []uint64
	pos  int
	why  locate.Reason // why the walk has failed at pos
}

// Wire types.
const (
	wireVarint = iota
	wireFixed64
	wireBytes
	wireGroup
	wireGroupEnd
	wireFixed32
)

// message reads the message from pos to end. depth is the number of steps of
// the path that lead to it, and outer the index of its length field.
func (w *protobufWalk) message(end, depth, outer int) bool {
	for w.pos < end {
		start := w.pos
		number, wire, ok := w.tag(end)
		switch {
		case !ok:
			return false
		case wire == wireGroupEnd:
			return w.fail(locate.Unparsed, start)
		case number != w.path[depth]:
			ok = w.skip(end, number, wire, 0)
		case wire == wireBytes:
			ok = w.step(end, depth, outer)
		default:
			return w.fail(locate.NoField, start)
		}
		if !ok {
			return false
		}
	}
	return true
}

// step reads a field of the path: the URL, or a message that contains it.
func (w *protobufWalk) step(end, depth, outer int) bool {
	field, stop, ok := w.counted(end)
	switch {
	case !ok:
		return false
	case depth == len(w.path)-1:
		w.f.AddCounted(field, stop, outer)
		w.pos = stop
		return true
	}
	return w.message(stop, depth+1, w.f.AddLength(field, stop, outer))
}

// counted reads a length prefix. It returns the range of the length field, and
// the end of the bytes that the field counts.
func (w *protobufWalk) counted(end int) (field locate.Span, stop int, ok bool) {
	start := w.pos
	n, size := w.uvarint(end)
	if size == 0 || n > uint64(end-w.pos) {
		return field, 0, w.fail(locate.Unparsed, end)
	}
	return locate.Between(start, w.pos), w.pos + int(n), true
}

// tag reads a field number and a wire type.
func (w *protobufWalk) tag(end int) (number uint64, wire int, ok bool) {
	start := w.pos
	tag, size := w.uvarint(end)
	number, wire = tag>>3, int(tag&7)
	switch {
	case size == 0 && end-start < maxVarint:
		return 0, 0, w.fail(locate.Unparsed, end)
	case size == 0, number < 1, number > maxProtobufField, wire > wireFixed32:
		return 0, 0, w.fail(locate.Unparsed, start)
	}
	return number, wire, true
}

// skip skips the value of a field.
func (w *protobufWalk) skip(end int, number uint64, wire, depth int) bool {
	size := 0
	switch wire {
	case wireVarint:
		start := w.pos
		if _, n := w.uvarint(end); n == 0 {
			if end-start >= maxVarint {
				end = start
			}
			return w.fail(locate.Unparsed, end)
		}
		return true
	case wireBytes:
		_, stop, ok := w.counted(end)
		if ok {
			w.pos = stop
		}
		return ok
	case wireGroup:
		return w.skipGroup(end, number, depth+1)
	case wireFixed64:
		size = 8
	case wireFixed32:
		size = 4
	}
	if size > end-w.pos {
		return w.fail(locate.Unparsed, end)
	}
	w.pos += size
	return true
}

// skipGroup skips the fields up to the end of a group.
func (w *protobufWalk) skipGroup(end int, number uint64, depth int) bool {
	if depth > maxProtobufDepth {
		return w.fail(locate.Unparsed, w.pos)
	}
	for w.pos < end {
		start := w.pos
		n, wire, ok := w.tag(end)
		switch {
		case !ok:
			return false
		case wire != wireGroupEnd:
			if !w.skip(end, n, wire, depth) {
				return false
			}
		case n == number:
			return true
		default:
			return w.fail(locate.Unparsed, start)
		}
	}
	return w.fail(locate.Unparsed, end)
}

// fail sets the reason and the offset of an error, and returns false.
func (w *protobufWalk) fail(why locate.Reason, at int) bool {
	w.why, w.pos = why, at
	return false
}

// maxVarint is the maximum number of bytes of a varint of 64 bits.
const maxVarint = 10

// uvarint reads a varint. size is 0 if it is cut at end, or invalid; then pos
// does not change.
func (w *protobufWalk) uvarint(end int) (n uint64, size int) {
	n, size = ReadUvarint(w.b[w.pos:end])
	w.pos += size
	return n, size
}

// ReadUvarint reads the varint at the start of b. size is 0 if b ends within it
// or if it does not fit into 64 bits.
func ReadUvarint(b []byte) (n uint64, size int) {
	for i, c := range b[:min(len(b), maxVarint)] {
		if i == maxVarint-1 && c > 1 {
			break
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

// appendUvarint appends n as a varint.
func appendUvarint(dst []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		dst = append(dst, byte(n)|0x80)
	}
	return append(dst, byte(n))
}

// protobufSpan is the span of a binaryFraming.
func protobufSpan(block []byte) int {
	n, size := ReadUvarint(block)
	switch {
	case size == 0 && len(block) < maxVarint:
		return 0
	case size == 0 || n > math.MaxInt32: // the limit of the Protobuf libraries
		return -1
	case n > uint64(len(block)-size):
		return 0
	}
	return size + int(n)
}

// protobufLength returns the length of the first message with its length field.
func protobufLength(block []byte) int64 {
	n, size := ReadUvarint(block)
	if size == 0 || n > math.MaxInt32 {
		return 0
	}
	return int64(size) + int64(n)
}
