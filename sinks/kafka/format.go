package kafka

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A format turns records into messages.
type format struct {
	partitionBy string
	key         string
	input       bool   // copy the headers of the input
	flags       bool   // add flagsHeader
	source      bool   // add sourceHeader
	exact       bool   // add idHeader
	sink        string // name of the sink, a part of the ids
	add         []kafka.Header
}

func newFormat(c *Config) format {
	f := format{partitionBy: c.PartitionBy, key: c.key(), input: c.Has("input"), flags: c.Has("flags"), source: c.Has("source"), exact: c.ExactlyOnce, sink: c.Name}
	for name, value := range c.AddHeaders {
		f.add = append(f.add, kafka.Header{Name: []byte(name), Value: []byte(value)})
	}
	slices.SortFunc(f.add, func(a, b kafka.Header) int { return bytes.Compare(a.Name, b.Name) })
	return f
}

// input returns the message that contained record i, or nil if its lane does
// not consist of messages.
func input(b *engine.Batch, st *engine.Stream, i int) *engine.Message {
	if len(b.Msgs) == 0 {
		return nil
	}
	return &b.Msgs[st.Recs[i].Msg]
}

// inputKey returns the key of the message that contained record i, or nil.
func inputKey(b *engine.Batch, st *engine.Stream, i int) []byte {
	if m := input(b, st, i); m != nil {
		return b.Key(m)
	}
	return nil
}

// partition returns the partition of record i, out of n. If the record has no
// URL key, partition uses the key of the input message; if the message has no key
// either, it uses the lane. turn is the partition for partition_by: none; with
// exactly-once delivery the id of the record replaces it, so that the record has the
// same partition when it is read again.
func (f *format) partition(b *engine.Batch, st *engine.Stream, i, n, turn int) int {
	switch f.partitionBy {
	case byNone:
		if f.exact {
			var text [64]byte
			return kafka.Partition(idOf(f.sink, b, st, i).appendTo(text[:0]), n)
		}
		return turn
	case byKey:
		if i < len(st.Facts) && !st.Facts[i].Key.IsZero() {
			var text [32]byte
			return kafka.Partition(st.Facts[i].Key.AppendTo(text[:0]), n)
		}
	}
	if key := inputKey(b, st, i); key != nil {
		return kafka.Partition(key, n)
	}
	return kafka.PartitionOf(b.Lane.ID(), n)
}

// A memory holds bytes that belong to one message.
type memory struct {
	key [32]byte
	id  []byte
}

// message sets dst to the message for record i. It reuses the memory of
// dst.Headers and own.
func (f *format) message(dst *kafka.Record, own *memory, b *engine.Batch, st *engine.Stream, i int) {
	rec := st.Recs[i]
	m := input(b, st, i)
	dst.Headers = dst.Headers[:0]
	if m != nil && m.Time > 0 {
		dst.Millis = m.Time / int64(time.Millisecond)
	} else {
		dst.Millis = time.Now().UnixMilli()
	}
	dst.Key = f.keyOf(own.key[:0], b, st, i)
	if st.Truncated {
		dst.Key, m = nil, nil
	}
	dst.Value = value(st.Bytes[rec.Off:rec.Off+rec.Len], st.Binary)
	if m != nil && m.Null && rec.Len == 0 {
		dst.Value, dst.Key = nil, b.Key(m)
	}
	if f.input && m != nil {
		b.Headers(m, func(name, value []byte) {
			dst.Headers = append(dst.Headers, kafka.Header{Name: name, Value: value})
		})
	}
	if f.flags && i < len(st.Facts) && !st.Facts[i].Flags.IsZero() {
		dst.Headers = append(dst.Headers, kafka.Header{Name: []byte(flagsHeader), Value: st.Facts[i].Flags.AppendTo(nil)})
	}
	if f.source {
		dst.Headers = append(dst.Headers, kafka.Header{Name: []byte(sourceHeader), Value: origin(b, st, i)})
	}
	if f.exact {
		own.id = idOf(f.sink, b, st, i).appendTo(own.id[:0])
		dst.Headers = append(dst.Headers, kafka.Header{Name: []byte(idHeader), Value: own.id})
	}
	dst.Headers = append(dst.Headers, f.add...)
}

// value returns a record without its line end, if it has one; a binary
// record has none. The result is never nil, because that would be a
// tombstone.
func value(rec []byte, isBinary bool) []byte {
	if n := len(rec); n > 0 && rec[n-1] == '\n' && !isBinary {
		rec = rec[:n-1]
	}
	if rec == nil {
		rec = []byte{}
	}
	return rec
}

// keyOf returns the key of a message: appended to dst, or the input key.
func (f *format) keyOf(dst []byte, b *engine.Batch, st *engine.Stream, i int) []byte {
	switch {
	case f.key == byNone:
		return nil
	case f.key == byKey && i < len(st.Facts) && !st.Facts[i].Key.IsZero():
		return st.Facts[i].Key.AppendTo(dst)
	}
	return inputKey(b, st, i)
}

// Names of headers.
const (
	flagsHeader  = "urlfold-flags"
	sourceHeader = "urlfold-source"
)

// origin returns the origin of record i: topic/partition/offset, or
// file:offset.
func origin(b *engine.Batch, st *engine.Stream, i int) []byte {
	pos, _ := b.Origin(st, i)
	id, broker := strings.CutPrefix(b.Lane.ID(), "kafka/")
	sep := byte(':')
	if broker {
		sep = '/'
	}
	return strconv.AppendInt(append([]byte(id), sep), pos, 10)
}
