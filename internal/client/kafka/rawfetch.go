package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/segmentio/kafka-go/protocol"
)

// This file contains:
//
//   - wire: requests and responses encoded here, on a connection that the
//     library has selected, opened and logged in on.
//   - fetchRequest: requests of the API Fetch.
//   - rawRequest: requests of other APIs.

// maxAnswer limits the response to a fetch. A broker sends at least one batch,
// however long it is, so this is far more than what is requested.
const maxAnswer = 1 << 30

// chunk is how much memory to allocate for an announced length before its bytes
// arrive.
const chunk = 1 << 20

const clientID = "urlfold"

// A wire parses responses.
type wire struct {
	cursor
}

func (w *wire) i16() int16 { return int16(w.number(2)) }
func (w *wire) i32() int32 { return int32(w.number(4)) }
func (w *wire) i64() int64 { return int64(w.number(8)) }

// number reads n bytes, big endian.
func (w *wire) number(n int64) (v uint64) {
	for _, c := range w.take(n) {
		v = v<<8 | uint64(c)
	}
	return v
}

func (w *wire) text() string { return string(w.take(int64(w.i16()))) }

// request returns the header of a request, preceded by space for its length.
func request(dst []byte, key protocol.ApiKey, version int16) []byte {
	dst = append(dst[:0], 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint16(dst, uint16(key))
	dst = binary.BigEndian.AppendUint16(dst, uint16(version))
	dst = binary.BigEndian.AppendUint32(dst, correlation)
	return appendText(dst, clientID)
}

// correlation is the id of every request encoded here: a connection has only
// one request in flight at a time.
const correlation = 0x75726c66

func appendText(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}

// exchange sends a request and reads its response into dst.
func exchange(rw io.ReadWriter, req, dst []byte) ([]byte, error) {
	binary.BigEndian.PutUint32(req, uint32(len(req)-4))
	if _, err := rw.Write(req); err != nil {
		return dst, err
	}
	var head [8]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return dst, noEOF(err)
	}
	size := int64(int32(binary.BigEndian.Uint32(head[:]))) - 4
	if size < 0 || size > maxAnswer {
		return dst, fmt.Errorf("broker announced a response of invalid length %d", size)
	}
	if binary.BigEndian.Uint32(head[4:]) != correlation {
		return dst, errors.New("broker sent the response to another request")
	}
	return readN(rw, dst, int(size))
}

// readN reads n bytes into dst, which grows as they arrive.
func readN(r io.Reader, dst []byte, n int) ([]byte, error) {
	dst = dst[:0]
	for len(dst) < n {
		at := len(dst)
		want := min(n-at, max(chunk, cap(dst)-at))
		if cap(dst)-at < want {
			dst = append(dst, make([]byte, want)...)
		}
		dst = dst[:at+want]
		if _, err := io.ReadFull(r, dst[at:]); err != nil {
			return dst[:at], noEOF(err)
		}
	}
	return dst, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A fetchRequest is a fetch request with space for its response.
type fetchRequest struct {
	FetchRequest
	into    *Fetched
	version int16
	scratch []byte
	err     error // error code of the partition in the response
}

// ApiKey implements protocol.Message.
func (r *fetchRequest) ApiKey() protocol.ApiKey { return protocol.Fetch } //nolint:staticcheck // the library has the name

// Broker implements protocol.BrokerMessage. It returns the leader.
func (r *fetchRequest) Broker(c protocol.Cluster) (protocol.Broker, error) {
	return leader(c, r.Topic, r.Partition)
}

// leader returns the leader of a partition.
func leader(c protocol.Cluster, topic string, partition int) (protocol.Broker, error) {
	p, ok := c.Topics[topic].Partitions[int32(partition)]
	if !ok {
		return protocol.Broker{ID: -1}, UnknownTopic
	}
	b, ok := c.Brokers[p.Leader]
	if !ok {
		return protocol.Broker{ID: -1}, NotLeader
	}
	return b, nil
}

// Required implements protocol.RawExchanger.
func (r *fetchRequest) Required(versions map[protocol.ApiKey]int16) bool {
	r.version = versions[protocol.Fetch]
	return true
}

// fetchByID is the first version of the API that names a topic by its id, and the last
// one that this package knows. Its messages are flexible.
const fetchByID = 13

// RawExchange implements protocol.RawExchanger.
func (r *fetchRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if r.Log.Known() && supports(rw, protocol.Fetch, fetchByID) == fetchByID {
		r.version = fetchByID
	}
	if r.version < 4 {
		return nil, errors.New("broker is older than Kafka 0.11")
	}
	r.encode()
	answer, err := exchange(rw, r.scratch, r.into.answer)
	r.into.answer, r.into.Set = answer, nil
	if err != nil {
		return nil, err
	}
	r.err = r.decode(answer)
	return r, nil
}

func (r *fetchRequest) byID() bool { return r.version >= fetchByID }

func (r *fetchRequest) encode() {
	put := binary.BigEndian
	b := r.tags(request(r.scratch, protocol.Fetch, r.version))
	b = put.AppendUint32(b, 1<<32-1) // replica id: none
	b = put.AppendUint32(b, uint32(r.MaxWait.Milliseconds()))
	b = put.AppendUint32(b, 1) // minimum bytes
	b = put.AppendUint32(b, uint32(r.MaxBytes))
	isolation := byte(0)
	if r.Committed {
		isolation = 1
	}
	b = append(b, isolation)
	if r.version >= 7 {
		b = put.AppendUint32(b, 0)       // session id
		b = put.AppendUint32(b, 1<<32-1) // session epoch: no session
	}
	b = r.count(b, 1) // topics
	if r.byID() {
		b = append(b, r.Log.ID[:]...)
	} else {
		b = appendText(b, r.Topic)
	}
	b = r.count(b, 1) // partitions
	b = put.AppendUint32(b, uint32(r.Partition))
	if r.version >= 9 {
		epoch := int32(-1) // any
		if r.Log.Known() {
			epoch = r.Log.Epoch
		}
		b = put.AppendUint32(b, uint32(epoch))
	}
	b = put.AppendUint64(b, uint64(r.Offset))
	if r.byID() {
		b = put.AppendUint32(b, 1<<32-1) // epoch of the last record: set by replicas only
	}
	if r.version >= 5 {
		b = put.AppendUint64(b, 1<<64-1) // log start offset: set by replicas only
	}
	b = put.AppendUint32(b, uint32(r.MaxBytes))
	b = r.tags(r.tags(b)) // the tags of the partition and of the topic
	if r.version >= 7 {
		b = r.count(b, 0) // forgotten topics
	}
	switch {
	case r.byID():
		b = append(b, 1) // rack: empty
	case r.version >= 11:
		b = appendText(b, "") // rack
	}
	r.scratch = r.tags(b)
}

// count appends the number of elements of a list.
func (r *fetchRequest) count(b []byte, n uint32) []byte {
	if r.byID() {
		return append(b, byte(n+1))
	}
	return binary.BigEndian.AppendUint32(b, n)
}

// tags appends an empty list of tagged fields, in flexible messages.
func (r *fetchRequest) tags(b []byte) []byte {
	if r.byID() {
		b = append(b, 0)
	}
	return b
}

var errAnswer = errors.New("unexpected response from a broker")

// decode parses a response for one partition into r.into.
func (r *fetchRequest) decode(answer []byte) error {
	w := wire{cursor{b: answer}}
	flexible := r.byID()
	if flexible {
		w.tags()
	}
	w.i32() // throttle time
	if r.version >= 7 {
		if code := w.i16(); code != 0 {
			return Code(code)
		}
		w.i32() // session
	}
	if w.size(flexible, 4) != 1 || !r.named(&w) || w.size(flexible, 4) != 1 || int(w.i32()) != r.Partition {
		return errAnswer
	}
	code := w.i16()
	f := r.into
	f.HighWatermark, f.LastStable, f.LogStart = w.i64(), w.i64(), -1
	if r.version >= 5 {
		f.LogStart = w.i64()
	}
	f.Aborted = f.Aborted[:0]
	for n := w.size(flexible, 4); n > 0 && !w.bad; n-- {
		f.Aborted = append(f.Aborted, Aborted{w.i64(), w.i64()})
		if flexible {
			w.tags()
		}
	}
	if r.version >= 11 {
		w.i32() // preferred replica
	}
	f.Set = w.sized(flexible, 4)
	switch {
	case code != 0:
		f.Set = nil
		return Code(code)
	case w.bad:
		f.Set = nil
		return errAnswer
	}
	return nil
}

// named reports whether the topic that follows in w is the topic of r.
func (r *fetchRequest) named(w *wire) bool {
	if r.byID() {
		return string(w.take(int64(len(r.Log.ID)))) == string(r.Log.ID[:])
	}
	return w.text() == r.Topic
}

// A rawRequest is a request to any broker, whose functions read and write the
// memory of the caller. It is not sent to a broker that supports none of its
// versions.
type rawRequest struct {
	api            protocol.ApiKey
	oldest, newest int16
	encode         func(b []byte) []byte // appends the body of the request
	decode         func(w *wire) error
	old            error // the error if the broker supports no version
	err            error // error of decode, or old
}

// ApiKey implements protocol.Message.
func (r *rawRequest) ApiKey() protocol.ApiKey { return r.api } //nolint:staticcheck // the library has the name

// Required implements protocol.RawExchanger.
func (r *rawRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements protocol.RawExchanger.
func (r *rawRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	version := supports(rw, r.api, r.newest)
	if r.err = r.old; version < r.oldest {
		return r, nil
	}
	answer, err := exchange(rw, r.encode(request(nil, r.api, version)), nil)
	if err != nil {
		return nil, err
	}
	r.err = r.decode(&wire{cursor{b: answer}})
	return r, nil
}

// A leaderRequest is a rawRequest to the leader of a partition.
type leaderRequest struct {
	rawRequest
	topic     string
	partition int
}

// Broker implements protocol.BrokerMessage.
func (r *leaderRequest) Broker(c protocol.Cluster) (protocol.Broker, error) {
	return leader(c, r.topic, r.partition)
}

// ask sends m, which contains r, and returns its error.
func (l *library) ask(ctx context.Context, m protocol.Message, r *rawRequest) error {
	if _, err := l.transport.RoundTrip(ctx, l.addr, m); err != nil {
		return l.explain(err)
	}
	return r.err
}
