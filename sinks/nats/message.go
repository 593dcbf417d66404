package nats

import (
	"encoding/base32"
	"encoding/binary"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/connect"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Names of headers.
const (
	flagsHeader   = "urlfold-flags"
	sourceHeader  = "urlfold-source"
	idHeader      = "Nats-Msg-Id"
	expectHeader  = "Nats-Expected-Stream"
	subjectHeader = "Nats-Subject" // of the input, set by the source
)

// A press turns records into messages. It is safe for concurrent use.
type press struct {
	subject *template
	headers connect.Headers
	id      string // idPosition, idKey, idSubject, idBatch or idNone
	expect  string
}

// A page is the input for messages: a stream of a batch.
type page struct {
	b    *engine.Batch
	s    *engine.Stream
	dead bool
}

// data returns the output text of record i without its line end, if it has one.
func (p *page) data(i int) []byte {
	r := p.s.Recs[i]
	d := p.s.Bytes[r.Off : r.Off+r.Len : r.Off+r.Len]
	if n := len(d); n > 0 && d[n-1] == '\n' && !p.s.Binary {
		d = d[:n-1]
	}
	return d
}

// fact returns the facts about record i.
func (p *page) fact(i int) *record.Fact {
	if p.s.Facts == nil {
		return &record.Fact{}
	}
	return &p.s.Facts[i]
}

// message returns the message that contained record i, or nil.
func (p *page) message(i int) *engine.Message {
	if len(p.b.Msgs) == 0 {
		return nil
	}
	return &p.b.Msgs[p.s.Recs[i].Msg]
}

// input returns the subject of the message that contained record i.
func (p *page) input(i int) (subject string) {
	if m := p.message(i); m != nil {
		p.b.Headers(m, func(name, value []byte) {
			if string(name) == subjectHeader {
				subject = string(value)
			}
		})
	}
	return subject
}

// subjectOf returns the subject of record i. With idSubject, the hash of its position
// replaces the key of a record that has none, so that the stream does not take the
// message for a duplicate.
func (pr *press) subjectOf(p *page, i int) string {
	in := ""
	if pr.subject.takes(subject) {
		in = p.input(i)
	}
	f := p.fact(i)
	if pr.id == idSubject && f.Key.IsZero() {
		sum := xxh3.Hash128(pr.appendPosition(pr.appendOrigin(nil, p), p, i))
		f = &record.Fact{Host: f.Host, Key: codec.KeyFromUint64s(sum.Hi, sum.Lo)}
	}
	return pr.subject.make(f, in)
}

// fill sets m to the message for record i.
func (pr *press) fill(p *page, i int, m *client.Msg) {
	m.Subject, m.Data = pr.subjectOf(p, i), p.data(i)
	if in := p.message(i); pr.headers.Has("input") && in != nil && in.Heads.N > 0 && !p.s.Truncated {
		p.b.Headers(in, func(name, value []byte) {
			if passes(name) {
				m.Header[string(name)] = append(m.Header[string(name)], string(value))
			}
		})
	}
	f := p.fact(i)
	if pr.headers.Has("flags") && !f.Flags.IsZero() {
		m.Header[flagsHeader] = []string{string(f.Flags.AppendTo(nil))}
	}
	if pr.headers.Has("source") {
		m.Header[sourceHeader] = []string{p.source(i)}
	}
	for name, value := range pr.headers.AddHeaders {
		m.Header[name] = []string{value}
	}
	if pr.expect != "" {
		m.Header[expectHeader] = []string{pr.expect}
	}
	switch {
	case pr.id == idPosition, pr.id == idKey && f.Key.IsZero():
		m.Header[idHeader] = []string{pr.positionID(p, i)}
	case pr.id == idKey:
		m.Header[idHeader] = []string{f.Key.String()}
	}
}

// passes reports whether a header with this name is copied: it must be a valid
// NATS header name and not a command to the server.
func passes(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f || c == ':' {
			return false
		}
	}
	const own = "nats-"
	if len(name) < len(own) {
		return len(name) > 0
	}
	for i := range len(own) {
		if name[i]|0x20 != own[i]|0x20 {
			return true
		}
	}
	return false
}

// source returns the origin of record i: the name of the lane and the position.
func (p *page) source(i int) string {
	pos, _ := p.position(i)
	var b [128]byte
	dst := append(b[:0], p.b.Lane.Name()...)
	dst = append(dst, '@')
	return string(strconv.AppendInt(dst, pos, 10))
}

// position returns the position in the lane of the message that contained
// record i, and the offset of the record in it. Without messages, it returns
// the offset in the stream, and 0.
func (p *page) position(i int) (pos, off int64) {
	r := p.s.Recs[i]
	m := p.message(i)
	if m == nil {
		return p.b.Off + int64(r.Src), 0
	}
	return m.Pos, int64(r.Src) - int64(m.Value.Off)
}

// ordinal returns the index of record i among the output records of the same
// input record. (The ordinal of Batch.Origin counts all records of a message.
// The result of ordinal does not depend on which records of the same message
// were rejected, or refused by a sink.)
func (p *page) ordinal(i int) (n int) {
	recs, i := p.s.Whole(i)
	for n < i && recs[i-n-1].Src == recs[i].Src && recs[i-n-1].Msg == recs[i].Msg {
		n++
	}
	return n
}

var base = base32.HexEncoding.WithPadding(base32.NoPadding)

// positionID returns an id that is unique to record i, and is the same each
// time the record is read and rendered for the same subject template. It
// consists of 26 characters that encode the XXH3 hash of
//
//	lane id · log · 0 · template · 0 · dead · position · offset · ordinal
func (pr *press) positionID(p *page, i int) string {
	var b [256]byte
	return idOf(pr.appendPosition(pr.appendOrigin(b[:0], p), p, i))
}

// batchID returns an id that is unique to a message, and is the same each time
// the records of g are read as one message. It depends on the start of the
// batch, the positions of the first and the last record, and the number of
// records. If max_payload or the batch boundaries change, a message with fewer
// records therefore cannot have the id of a message with more records.
//
//	lane id · log · 0 · template · 0 · dead · batch offset · first record · last record · records
func (pr *press) batchID(p *page, g group) string {
	var b [256]byte
	dst := pr.appendOrigin(b[:0], p)
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.b.Off))
	dst = pr.appendPosition(dst, p, g.from)
	dst = pr.appendPosition(dst, p, g.to-1)
	return idOf(binary.BigEndian.AppendUint32(dst, uint32(g.to-g.from)))
}

// appendOrigin appends the part that the ids of all records of p share.
func (pr *press) appendOrigin(dst []byte, p *page) []byte {
	dst = append(append(dst, p.b.Lane.ID()...), p.b.Lane.Log()...)
	dst = append(dst, 0)
	for _, part := range pr.subject.parts {
		dst = append(append(dst, byte(part.kind)), part.text...)
	}
	dead := byte(0)
	if p.dead {
		dead = 1
	}
	return append(dst, 0, dead)
}

// appendPosition appends the position of record i.
func (pr *press) appendPosition(dst []byte, p *page, i int) []byte {
	pos, off := p.position(i)
	dst = binary.BigEndian.AppendUint64(dst, uint64(pos))
	dst = binary.BigEndian.AppendUint64(dst, uint64(off))
	return binary.BigEndian.AppendUint32(dst, uint32(p.ordinal(i)))
}

// idOf returns the id for the hash input dst.
func idOf(dst []byte) string {
	sum := xxh3.Hash128(dst).Bytes()
	var text [26]byte
	base.Encode(text[:], sum[:])
	return string(text[:])
}
