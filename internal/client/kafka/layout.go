package kafka

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/consumer"
	"github.com/segmentio/kafka-go/protocol/createtopics"
	"github.com/segmentio/kafka-go/protocol/describeconfigs"
	"github.com/segmentio/kafka-go/protocol/findcoordinator"
	"github.com/segmentio/kafka-go/protocol/heartbeat"
	"github.com/segmentio/kafka-go/protocol/joingroup"
	"github.com/segmentio/kafka-go/protocol/leavegroup"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	"github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/segmentio/kafka-go/protocol/offsetcommit"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"
	"github.com/segmentio/kafka-go/protocol/produce"
	"github.com/segmentio/kafka-go/protocol/saslauthenticate"
	"github.com/segmentio/kafka-go/protocol/saslhandshake"
	"github.com/segmentio/kafka-go/protocol/syncgroup"
)

// answers are the responses that the library decodes. The library makes its
// decoders from the tags of their fields, and the layouts are made from the
// same tags. The consumer group of the library has other decoders for the
// same layouts.
var answers = map[protocol.ApiKey]any{
	protocol.ApiVersions:      apiversions.Response{},
	protocol.CreateTopics:     createtopics.Response{},
	protocol.DescribeConfigs:  describeconfigs.Response{},
	protocol.FindCoordinator:  findcoordinator.Response{},
	protocol.Heartbeat:        heartbeat.Response{},
	protocol.JoinGroup:        joingroup.Response{},
	protocol.LeaveGroup:       leavegroup.Response{},
	protocol.ListOffsets:      listoffsets.Response{},
	protocol.Metadata:         metadata.Response{},
	protocol.OffsetCommit:     offsetcommit.Response{},
	protocol.OffsetFetch:      offsetfetch.Response{},
	protocol.Produce:          produce.Response{},
	protocol.SaslAuthenticate: saslauthenticate.Response{},
	protocol.SaslHandshake:    saslhandshake.Response{},
	protocol.SyncGroup:        syncgroup.Response{},
}

// contents has the types of the values that the byte strings of an answer
// contain.
var contents = map[protocol.ApiKey]any{
	protocol.JoinGroup: consumer.Subscription{},
	protocol.SyncGroup: consumer.Assignment{},
}

// maxElements limits each list of an answer. It is more than the partitions that any
// topic has.
const maxElements = 1 << 18

// A layout reads one value.
type layout func(w *wire)

var layouts sync.Map // call → layout

// checkAnswer checks that each length and count in the body of the answer to r
// matches the bytes in the body.
func checkAnswer(r call, body []byte) error {
	l, ok := layouts.Load(r)
	if !ok {
		answer := answers[r.api]
		if answer == nil {
			return fmt.Errorf("%w: %s", errAnswer, r.api)
		}
		l, _ = layouts.LoadOrStore(r, newLayout(r, reflect.TypeOf(answer)))
	}
	w := wire{cursor{b: body}}
	if l.(layout)(&w); w.bad {
		return fmt.Errorf("%w: %s version %d", errAnswer, r.api, r.version)
	}
	return nil
}

// newLayout returns the layout of the answer to r, after its correlation id.
func newLayout(r call, t reflect.Type) layout {
	flexible := false
	for field := range t.Fields() {
		tagged, ok := fieldTag(field, r.version)
		flexible = flexible || ok && tagged
	}
	content := layout(func(*wire) {})
	if c := contents[r.api]; c != nil {
		content = layoutOf(reflect.TypeOf(c), 0, false, nil)
	}
	body := layoutOf(t, r.version, flexible, content)
	return func(w *wire) {
		if flexible {
			w.tags()
		}
		body(w)
	}
}

// fieldTag reports whether a field exists in a version, and whether it is a
// tagged field.
func fieldTag(f reflect.StructField, version int16) (tagged, ok bool) {
	for tag := range strings.SplitSeq(f.Tag.Get("kafka"), "|") {
		lowest, highest := int64(-1), int64(-1)
		tagged = false
		for option := range strings.SplitSeq(tag, ",") {
			name, value, _ := strings.Cut(option, "=v")
			n, _ := strconv.ParseInt(value, 10, 16) // the library panics at a malformed tag
			switch name {
			case "min":
				lowest = n
			case "max":
				highest = n
			case "tag":
				tagged = true
			}
		}
		if lowest <= int64(version) && int64(version) <= highest {
			return tagged, true
		}
	}
	return false, false
}

// layoutOf returns the layout of values of type t. content is the layout of byte
// strings that are not empty; nil: any.
func layoutOf(t reflect.Type, version int16, flexible bool, content layout) layout {
	switch t.Kind() {
	case reflect.String:
		return func(w *wire) { w.sized(flexible, 2) }
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return func(w *wire) {
				if b := w.sized(flexible, 4); len(b) > 0 && content != nil {
					in := wire{cursor{b: b}}
					content(&in)
					w.bad = w.bad || in.bad
				}
			}
		}
		element := layoutOf(t.Elem(), version, flexible, content)
		return func(w *wire) {
			n := w.size(flexible, 4)
			w.bad = w.bad || n > maxElements
			for ; n > 0 && !w.bad; n-- {
				element(w)
			}
		}
	case reflect.Struct:
		var fields []layout
		for field := range t.Fields() {
			if tagged, ok := fieldTag(field, version); !ok || tagged {
				continue
			}
			if field.Name == "Host" { // the library splits an address at commas, and panics
				fields = append(fields, func(w *wire) { w.bad = bytes.ContainsRune(w.sized(flexible, 2), ',') || w.bad })
			} else {
				fields = append(fields, layoutOf(field.Type, version, flexible, content))
			}
		}
		return func(w *wire) {
			for _, f := range fields {
				f(w)
			}
			if flexible {
				w.tags()
			}
		}
	}
	return func(w *wire) { w.take(int64(t.Size())) }
}

// size reads a length or count: of width bytes, or a varint in a flexible message. It
// returns -1 for null.
func (w *wire) size(flexible bool, width int64) int64 {
	if !flexible {
		n := w.number(width)
		if width == 2 {
			return int64(int16(n))
		}
		return int64(int32(n))
	}
	v, n := binary.Uvarint(w.b)
	if n <= 0 || v > math.MaxInt32 {
		w.bad, w.b = true, nil
		return -1
	}
	w.b = w.b[n:]
	return int64(v) - 1
}

// sized reads a byte string with its length; nil for null.
func (w *wire) sized(flexible bool, width int64) []byte {
	n := w.size(flexible, width)
	if n < 0 {
		return nil
	}
	return w.take(n)
}

// tags skips tagged fields. It rejects a tag above the range of int32, which
// the library would confuse with a tag that it knows.
func (w *wire) tags() {
	for n := w.size(true, 0) + 1; n > 0 && !w.bad; n-- {
		w.size(true, 0) // the tag
		w.take(w.size(true, 0) + 1)
	}
}

// versionsIn returns the versions in an answer to ApiVersions, which was checked.
func versionsIn(body []byte) map[protocol.ApiKey]versionRange {
	w := wire{cursor{b: body}}
	w.i16() // error code
	all := map[protocol.ApiKey]versionRange{}
	for n := w.i32(); n > 0 && !w.bad; n-- {
		api := protocol.ApiKey(w.i16())
		all[api] = versionRange{w.i16(), w.i16()}
	}
	return all
}
