package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// ErrDamaged is the error for a stream that is not valid Arrow IPC.
var ErrDamaged = errors.New("damaged Arrow stream")

// Limits of a message. They bound the memory that a damaged length takes.
const (
	maxHead = 16 << 20
	maxBody = 1 << 30
	maxRows = 1 << 26
)

// The types of a message, and the version of its metadata that is written.
const (
	headSchema     = 1
	headDictionary = 2
	headBatch      = 3
	metadataV5     = 4
)

// A message is one message of a stream.
type message struct {
	typ  byte
	head flat // header of type typ
	body []byte
}

// A flat is a table of a flatbuffer. Its methods panic if the table is damaged;
// readMessage and its callers turn the panic into an error with [guard].
type flat struct{ flatbuffers.Table }

// guard sets err if a flatbuffer was damaged.
func guard(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: an offset points outside of the metadata", ErrDamaged)
	}
}

// slot returns the position of field number n, or 0 if it is absent.
func (t flat) slot(n int) flatbuffers.UOffsetT {
	o := flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4 + 2*n))) //nolint:gosec // n is a small constant
	if o == 0 {
		return 0
	}
	return o + t.Pos
}

// long returns an integer of 8 bytes, or 0 if it is absent.
func (t flat) long(n int) int64 {
	if at := t.slot(n); at != 0 {
		return t.GetInt64(at)
	}
	return 0
}

// int32 returns an integer of 4 bytes, or 0 if it is absent.
func (t flat) int32(n int) int {
	if at := t.slot(n); at != 0 {
		return int(t.GetInt32(at))
	}
	return 0
}

// short returns an integer of 2 bytes, or 0 if it is absent.
func (t flat) short(n int) int {
	if at := t.slot(n); at != 0 {
		return int(t.GetInt16(at))
	}
	return 0
}

// octet returns a byte, such as a bool or the type of a union, or 0.
func (t flat) octet(n int) byte {
	if at := t.slot(n); at != 0 {
		return t.GetByte(at)
	}
	return 0
}

// text returns a string, or "" if it is absent.
func (t flat) text(n int) string {
	if at := t.slot(n); at != 0 {
		return t.String(at)
	}
	return ""
}

// table returns the table or union that a field holds. ok is false if it is absent.
func (t flat) table(n int) (sub flat, ok bool) {
	at := t.slot(n)
	if at == 0 {
		return flat{}, false
	}
	sub.Bytes, sub.Pos = t.Bytes, t.Indirect(at)
	return sub, true
}

// vector returns the position and the length of a vector; 0, 0 if it is absent.
func (t flat) vector(n int) (start flatbuffers.UOffsetT, length int) {
	at := t.slot(n)
	if at == 0 {
		return 0, 0
	}
	at -= t.Pos
	return t.Vector(at), t.VectorLen(at)
}

// tables calls visit for each table of a vector until it returns an error.
func (t flat) tables(n int, visit func(flat) error) error {
	start, length := t.vector(n)
	for i := range length {
		var sub flat
		sub.Bytes, sub.Pos = t.Bytes, t.Indirect(start+flatbuffers.UOffsetT(4*i)) //nolint:gosec // i is below the length of the buffer
		if err := visit(sub); err != nil {
			return err
		}
	}
	return nil
}

// longs returns the 8-byte integers of a vector; each element of the vector has
// each of them.
func (t flat) longs(n, each int) (list []int64) {
	start, length := t.vector(n)
	for i := range length * each {
		list = append(list, t.GetInt64(start+flatbuffers.UOffsetT(8*i))) //nolint:gosec // GetInt64 checks it
	}
	return list
}

// continuation precedes the length of a message.
const continuation = 0xffffffff

// readMessage reads a message into the memory of buf, and also returns this
// memory, which may have grown. It returns io.EOF at the end of the stream, and
// io.ErrUnexpectedEOF if the stream ends within the message.
func readMessage(in io.Reader, buf []byte) (m message, _ []byte, err error) {
	defer guard(&err)
	var length [4]byte
	if _, err = io.ReadFull(in, length[:]); err != nil {
		return m, buf, err
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size == continuation {
		if _, err = io.ReadFull(in, length[:]); err != nil {
			return m, buf, io.ErrUnexpectedEOF
		}
		size = binary.LittleEndian.Uint32(length[:])
	}
	switch {
	case size == 0:
		return m, buf, io.EOF
	case size > maxHead:
		return m, buf, fmt.Errorf("%w: metadata of %d bytes", ErrDamaged, size)
	}
	head, err := readBytes(in, nil, int64(size))
	if err != nil {
		return m, buf, err
	}
	var root flat
	root.Bytes, root.Pos = head, flatbuffers.GetUOffsetT(head)
	body := root.long(3)
	if body < 0 || body > maxBody {
		return m, buf, fmt.Errorf("%w, or batch larger than 1 GiB: %d bytes", ErrDamaged, body)
	}
	m.typ = root.octet(1)
	m.head, _ = root.table(2)
	m.body, err = readBytes(in, buf, body)
	return m, m.body, err
}

// readBytes reads n bytes into the memory of buf, which grows only as bytes arrive.
func readBytes(in io.Reader, buf []byte, n int64) ([]byte, error) {
	buf = buf[:0]
	for int64(len(buf)) < n {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(n, max(64<<10, int64(2*cap(buf)))))
			copy(grown, buf)
			buf = grown
		}
		part := buf[len(buf):min(int64(cap(buf)), n)]
		k, err := io.ReadFull(in, part)
		buf = buf[:len(buf)+k]
		if err != nil {
			return buf, io.ErrUnexpectedEOF
		}
	}
	return buf, nil
}

// appendMessage appends a message with the finished flatbuffer head and a body,
// padded so that the body begins at a multiple of 8 bytes.
func appendMessage(out, head, body []byte) []byte {
	out = binary.LittleEndian.AppendUint32(out, continuation)
	out = binary.LittleEndian.AppendUint32(out, uint32(padded(len(head)))) //nolint:gosec // metadata is small
	out = append(append(out, head...), zeros[:padded(len(head))-len(head)]...)
	return append(out, body...)
}

// endOfStream ends a stream.
var endOfStream = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// zeros is the source of padding.
var zeros [8]byte

// padded returns n rounded up to a multiple of 8.
func padded(n int) int { return (n + 7) &^ 7 }
