package nats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// A stored is the acknowledgment of a publish: which stream has stored it, and
// where.
type stored struct {
	stream    []byte
	seq       uint64
	duplicate bool
}

var (
	ackStart  = []byte(`{"stream":"`)
	errorKey  = []byte(`"error"`)
	duplicate = []byte(`"duplicate":`)
	seqKey    = []byte(`"seq":`)
)

// readStored parses the response to a publish. It does not unmarshal a usual
// response, which starts with the name of the stream and contains no error,
// because unmarshaling takes more time than everything else. An error is
// errAnswer or a *[jetstream.APIError].
func readStored(data []byte) (s stored, err error) {
	if rest, ok := bytes.CutPrefix(data, ackStart); ok && !bytes.Contains(data, errorKey) && bytes.HasSuffix(data, []byte("}")) {
		name, rest, _ := bytes.Cut(rest, []byte(`"`))
		_, digits, _ := bytes.Cut(rest, seqKey)
		end := 0
		for end < len(digits) && '0' <= digits[end] && digits[end] <= '9' {
			end++
		}
		if seq, err := strconv.ParseUint(string(digits[:end]), 10, 63); err == nil && seq > 0 && len(name) > 0 {
			return stored{name, seq, bytes.Contains(rest, duplicate)}, nil
		}
	}
	var a struct {
		Error     *jetstream.APIError `json:"error"`
		Stream    string              `json:"stream"`
		Seq       uint64              `json:"seq"`
		Duplicate bool                `json:"duplicate"`
	}
	switch err := json.Unmarshal(data, &a); {
	case err != nil || a.Error == nil && (a.Stream == "" || a.Seq == 0 || a.Seq > math.MaxInt64):
		return stored{}, errAnswer
	case a.Error != nil:
		return stored{stream: []byte(a.Stream)}, a.Error
	}
	return stored{[]byte(a.Stream), a.Seq, a.Duplicate}, nil
}

// Accept says which acknowledgments count.
type Accept struct {
	Only string // if set, accept only this stream
	Any  bool   // accept any name of a stream without looking it up

	// A message that a stream refuses because its subject already has a message
	// is a duplicate, not a message to publish again.
	OnePerSubject bool
}

// maxStreams is the maximum number of stream names that a Window remembers.
const maxStreams = 1000

// A streamName is a name that acknowledgments contain.
type streamName struct {
	exists  bool
	waiting []uint64 // tokens of messages, until the name was looked up
}

// accept resolves the message with the token t. name is the stream that has
// stored the message, according to the answer of the server. accept checks that
// this can be true.
func (w *Window) accept(t uint64, name []byte) {
	if w.which.Any && w.which.Only == "" || string(name) == w.which.Only {
		w.resolve(t, nil)
		return
	}
	if w.which.Only != "" {
		w.postpone(t, fmt.Errorf("%w: names the stream %.50q instead of %q", errAnswer, name, w.which.Only))
		return
	}
	w.mu.Lock()
	s := w.streams[string(name)]
	if s == nil && !w.closed {
		if len(w.streams) >= maxStreams {
			clear(w.streams)
		}
		s = &streamName{}
		w.streams[string(name)] = s
		w.keeper.Go(func() { w.lookUp(string(name), s) })
	}
	wait := s != nil && !s.exists
	if wait {
		s.waiting = append(s.waiting, t)
	}
	w.mu.Unlock()
	if s != nil && !wait {
		w.resolve(t, nil)
	}
}

// lookUp asks whether a stream exists, and continues with the messages that
// wait for the answer.
func (w *Window) lookUp(name string, s *streamName) {
	_, err := w.conn.Stream(w.ctx, name)
	w.mu.Lock()
	waiting := s.waiting
	s.exists, s.waiting = err == nil, nil
	if err != nil {
		delete(w.streams, name)
	}
	w.mu.Unlock()
	for _, t := range waiting {
		if err != nil {
			w.postpone(t, fmt.Errorf("%w: %w", errAnswer, err))
		} else {
			w.resolve(t, nil)
		}
	}
}
