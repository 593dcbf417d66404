package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// This file contains:
//
//   - Fetched: the response of a broker.
//   - Decoder: iterates over the batches.
//   - Record: iterates over the records of a batch.
//
// Record batch of version 2, which brokers have written since Kafka 0.11:
//
//	 0 base offset        int64
//	 8 length of the rest int32
//	12 leader epoch       int32
//	16 version            int8   2
//	17 CRC-32C            int32  of all that follows
//	21 attributes         int16  0-2 compression, 3 broker time, 4 transactional, 5 control
//	23 last offset delta  int32  unchanged by compaction
//	27 first time         int64  Unix milliseconds
//	35 max time           int64
//	43 producer id        int64
//	51 producer epoch     int16
//	53 base sequence      int32
//	57 number of records  int32
//	61 records, compressed together

const (
	headerLen    = 61
	prefixLen    = 12 // bytes before the part that the length covers
	attrCodec    = 7
	attrLogTime  = 1 << 3
	attrTxn      = 1 << 4
	attrControl  = 1 << 5
	versionAt    = 16
	crcAt        = 17
	attributesAt = 21
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Fetched is the response to a fetch request. The next fetch reuses its memory.
type Fetched struct {
	HighWatermark int64 // offset after the last record that all in-sync replicas have
	LastStable    int64 // offset up to which all transactions are committed or aborted
	LogStart      int64 // offset of the first existing record; -1 if unknown
	Epoch         int32 // leader epoch of the last complete batch, set by Next; or -1
	Set           []byte
	Aborted       []Aborted

	answer []byte // Set is a part of it
}

// An Aborted says that the transactional batches of a producer from offset
// First up to its next control batch are aborted.
type Aborted struct{ Producer, First int64 }

// Next returns the offset to fetch after f: the offset after the last complete
// batch, but at least from. It reads only the batch headers.
func (f *Fetched) Next(from int64) int64 {
	f.Epoch = noEpoch
	for b := f.Set; len(b) >= headerLen; {
		n := batchLen(b)
		if n < headerLen || n > len(b) {
			break
		}
		from = max(from, lastOffset(b)+1)
		f.Epoch = int32(binary.BigEndian.Uint32(b[prefixLen:]))
		b = b[n:]
	}
	return from
}

// Sequence returns the sequence number after the last complete batch of p. ok is
// false if there is no such batch.
func (f *Fetched) Sequence(p Producer) (next int32, ok bool) {
	for b := f.Set; len(b) >= headerLen; {
		n := batchLen(b)
		if n < headerLen || n > len(b) {
			break
		}
		id, epoch := int64(binary.BigEndian.Uint64(b[43:])), int16(binary.BigEndian.Uint16(b[51:]))
		if p.ID >= 0 && id == p.ID && epoch == p.Epoch {
			first, delta := binary.BigEndian.Uint32(b[53:]), binary.BigEndian.Uint32(b[23:])
			next, ok = NextSequence(int32(first), int(delta)+1), true
		}
		b = b[n:]
	}
	return next, ok
}

// NextSequence returns the sequence number after n records from sequence on.
func NextSequence(sequence int32, n int) int32 {
	return int32((int64(sequence) + int64(n)) & (1<<31 - 1))
}

func batchLen(b []byte) int { return prefixLen + int(int32(binary.BigEndian.Uint32(b[8:]))) }

func lastOffset(b []byte) int64 {
	return int64(binary.BigEndian.Uint64(b)) + int64(int32(binary.BigEndian.Uint32(b[23:])))
}

// A Record is a record of a log. Its bytes are valid until the next call of
// Decoder.Next.
type Record struct {
	Offset     int64
	Millis     int64  // Unix time; -1: none
	Key, Value []byte // nil: null
	Headers    []Header
}

// A Header is a name with a value. A nil Value is null.
type Header struct{ Name, Value []byte }

// A Decoder decodes record batches. It skips control batches and, with
// Committed, the records of aborted transactions. It verifies the checksum of a
// batch before it returns the first record of the batch. Usage:
//
//	d.Reset(fetched, offset)
//	for d.Next(&r) { … }
//	d.Err(), d.Offset()
type Decoder struct {
	// MaxBytes limits the decompressed size of a batch.
	MaxBytes int
	// Committed makes Next skip the records of aborted transactions.
	Committed bool

	rest    []byte // remaining batches
	aborted []Aborted
	void    map[int64]bool // producers with an aborted transaction
	records []byte         // remaining records of the current batch
	left    int            // number of remaining records
	base    int64
	first   int64 // base time
	logTime bool
	last    int64 // offset of the last record of the batch before compaction
	offset  int64 // next offset
	err     error
	unpack  unpacker
}

var (
	// ErrCorrupt means that a batch was damaged.
	ErrCorrupt = errors.New("damaged record batch")
	// ErrTooLong means that a batch exceeds the limit when decompressed.
	ErrTooLong = errors.New("decompressed record batch exceeds max_batch_size")
	// ErrOldFormat means that a batch has a format from before Kafka 0.11.
	ErrOldFormat = errors.New("unsupported record batch format (older than Kafka 0.11)")
)

// Reset starts decoding f at the record with the given offset.
func (d *Decoder) Reset(f *Fetched, offset int64) {
	d.rest, d.aborted, d.offset = f.Set, f.Aborted, offset
	d.records, d.left, d.err = nil, 0, nil
	if d.void == nil {
		d.void = map[int64]bool{}
	}
	clear(d.void)
}

// Offset returns the offset after the records that Next has returned or
// skipped.
func (d *Decoder) Offset() int64 { return d.offset }

// Err returns the error that ended Next. Offset is then the offset of the batch
// that caused it.
func (d *Decoder) Err() error { return d.err }

// Next reads the next record into r. It returns false at the end.
func (d *Decoder) Next(r *Record) bool {
	for d.err == nil {
		if d.left == 0 {
			if !d.batch() {
				return false
			}
			continue
		}
		if !d.record(r) {
			return false
		}
		if r.Offset >= d.offset {
			d.offset = r.Offset + 1
			if d.left == 0 {
				d.offset = d.last + 1
			}
			return true
		}
		if d.left == 0 {
			d.offset = max(d.offset, d.last+1)
		}
	}
	return false
}

// batch opens the next batch. It returns false if rest holds no more batches,
// or only a part of one: a broker may truncate the last batch.
func (d *Decoder) batch() bool {
	b := d.rest
	if len(b) <= versionAt {
		return false
	}
	if v := b[versionAt]; v < 2 {
		return d.fail(ErrOldFormat)
	} else if v > 2 {
		return d.fail(fmt.Errorf("%w, or a record batch of a later version of Kafka: unknown version %d", ErrCorrupt, v))
	}
	n := batchLen(b)
	if n < headerLen {
		return d.fail(fmt.Errorf("%w: invalid length", ErrCorrupt))
	}
	if n > len(b) {
		return false
	}
	b, d.rest = b[:n], b[n:]
	if crc32.Checksum(b[attributesAt:], castagnoli) != binary.BigEndian.Uint32(b[crcAt:]) {
		return d.fail(fmt.Errorf("%w: checksum mismatch", ErrCorrupt))
	}
	attr := binary.BigEndian.Uint16(b[attributesAt:])
	d.base, d.last = int64(binary.BigEndian.Uint64(b)), lastOffset(b)
	d.first = int64(binary.BigEndian.Uint64(b[27:]))
	d.logTime = attr&attrLogTime != 0
	if d.logTime {
		d.first = int64(binary.BigEndian.Uint64(b[35:]))
	}
	count := int32(binary.BigEndian.Uint32(b[57:]))
	if count < 0 || d.last < d.base {
		return d.fail(fmt.Errorf("%w: invalid header", ErrCorrupt))
	}
	if count == 0 || d.last < d.offset || d.skip(b, attr) {
		d.offset = max(d.offset, d.last+1)
		return true
	}
	var err error
	if d.records, err = d.unpack.records(int(attr&attrCodec), b[headerLen:], d.MaxBytes); err != nil {
		return d.fail(err)
	}
	d.left = int(count)
	return true
}

// skip reports whether to skip the batch: it is a control batch, or aborted.
func (d *Decoder) skip(b []byte, attr uint16) bool {
	producer := int64(binary.BigEndian.Uint64(b[43:]))
	for len(d.aborted) > 0 && d.aborted[0].First <= d.last {
		d.void[d.aborted[0].Producer] = true
		d.aborted = d.aborted[1:]
	}
	if attr&attrControl != 0 {
		delete(d.void, producer) // commit or abort: the transaction is over
		return true
	}
	return d.Committed && attr&attrTxn != 0 && d.void[producer]
}

func (d *Decoder) fail(err error) bool {
	d.err = err
	return false
}

// record reads one record: its length, attributes, time delta, offset delta,
// key, value and headers. All numbers are zigzag varints.
func (d *Decoder) record(r *Record) bool {
	in := cursor{b: d.records}
	size := in.varint()
	if in.bad || size < 0 || size > int64(len(in.b)) {
		return d.fail(fmt.Errorf("%w: record longer than its batch", ErrCorrupt))
	}
	d.records = in.b[size:]
	in.b = in.b[:size]
	in.take(1)
	r.Millis = d.first
	if delta := in.varint(); !d.logTime {
		r.Millis += delta
	}
	r.Offset = d.base + in.varint()
	r.Key, r.Value = in.bytes(), in.bytes()
	r.Headers = r.Headers[:0]
	for n := in.varint(); n > 0 && !in.bad; n-- {
		h := Header{Name: in.bytes(), Value: in.bytes()}
		r.Headers = append(r.Headers, h)
	}
	switch {
	case in.bad:
		return d.fail(fmt.Errorf("%w: invalid record", ErrCorrupt))
	case r.Offset < d.base || r.Offset > d.last:
		return d.fail(fmt.Errorf("%w: record with the offset %d in the batch from %d to %d", ErrCorrupt, r.Offset, d.base, d.last))
	}
	d.left--
	return true
}

// A cursor reads from the front of b. After an error, bad is set and it returns
// zeros.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) take(n int64) []byte {
	if n < 0 || n > int64(len(c.b)) {
		c.bad, c.b = true, nil
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// bytes reads a length-prefixed byte string; nil if the length is -1.
func (c *cursor) bytes() []byte {
	n := c.varint()
	if n == -1 {
		return nil
	}
	return c.take(n)
}
