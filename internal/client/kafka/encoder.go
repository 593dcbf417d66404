package kafka

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// sizeLen is the length of the size field before a batch in a request.
const sizeLen = 4

// An Encoder makes record batches of version 2: see Decoder. Usage:
//
//	e.Reset()
//	e.Append(&r) // for each record; its bytes are copied
//	batch, err := e.Finish(producer, sequence, codec)
type Encoder struct {
	raw   []byte // uncompressed records
	out   []byte // the batch
	n     int
	first int64
	max   int64
}

// Reset removes all records. The next batch overwrites the batch returned by
// Finish, unless Release was called.
func (e *Encoder) Reset() { e.raw, e.n = e.raw[:0], 0 }

// Release gives up ownership of the last batch: the encoder no longer modifies
// it.
func (e *Encoder) Release() { e.out = nil }

// Len returns the number of records.
func (e *Encoder) Len() int { return e.n }

// Size returns the uncompressed length of the records in bytes.
func (e *Encoder) Size() int { return len(e.raw) }

// Append adds a record. It ignores the offset of the record.
func (e *Encoder) Append(r *Record) {
	if e.n == 0 {
		e.first, e.max = r.Millis, r.Millis
	}
	e.max = max(e.max, r.Millis)
	delta, index := r.Millis-e.first, int64(e.n)
	size := 1 + varintLen(delta) + varintLen(index) + bytesLen(r.Key) + bytesLen(r.Value) + varintLen(int64(len(r.Headers)))
	for _, h := range r.Headers {
		size += varintLen(int64(len(h.Name))) + len(h.Name) + bytesLen(h.Value)
	}
	b := binary.AppendVarint(e.raw, int64(size))
	b = append(b, 0) // attributes: none are defined
	b = binary.AppendVarint(b, delta)
	b = binary.AppendVarint(b, index)
	b = appendBytes(appendBytes(b, r.Key), r.Value)
	b = binary.AppendVarint(b, int64(len(r.Headers)))
	for _, h := range r.Headers {
		b = binary.AppendVarint(b, int64(len(h.Name)))
		b = appendBytes(append(b, h.Name...), h.Value)
	}
	e.raw = b
	e.n++
}

// Finish returns the batch with all records, preceded by its length, in the
// form that Client.Produce takes.
func (e *Encoder) Finish(p Producer, sequence int32, codec Codec) ([]byte, error) {
	b := append(e.out[:0], make([]byte, sizeLen+headerLen)...)
	b, err := pack(b, codec, e.raw)
	if err != nil {
		return nil, err
	}
	e.out = b
	binary.BigEndian.PutUint32(b, uint32(len(b)-sizeLen))
	h := b[sizeLen:]
	put := binary.BigEndian
	put.PutUint32(h[8:], uint32(len(h)-prefixLen))
	put.PutUint32(h[12:], 1<<32-1)
	h[versionAt] = 2
	put.PutUint16(h[attributesAt:], uint16(codec))
	put.PutUint32(h[23:], uint32(e.n-1))
	put.PutUint64(h[27:], uint64(e.first))
	put.PutUint64(h[35:], uint64(e.max))
	put.PutUint64(h[43:], uint64(p.ID))
	put.PutUint16(h[51:], uint16(p.Epoch))
	if p.ID < 0 {
		sequence = -1
	}
	put.PutUint32(h[53:], uint32(sequence))
	put.PutUint32(h[57:], uint32(e.n))
	put.PutUint32(h[crcAt:], crc32.Checksum(h[attributesAt:], castagnoli))
	return b, nil
}

// varintLen returns the length of v as a zigzag varint.
func varintLen(v int64) int {
	return (bits.Len64(uint64(v<<1^v>>63)|1) + 6) / 7
}

func bytesLen(b []byte) int {
	if b == nil {
		return 1
	}
	return varintLen(int64(len(b))) + len(b)
}

func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return append(dst, 1) // -1
	}
	return append(binary.AppendVarint(dst, int64(len(b))), b...)
}
