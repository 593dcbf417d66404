package changelog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// An entry says that the first record of a key is durable. Its message has
//
//	key    16 bytes: hash of the identity of the set, 16 bytes: the key
//	value   8 bytes: offset of the first record, with windows 4 bytes: the window;
//	        big endian
//
// A tombstone, whose value is null, makes the broker remove the entry of a window
// that is over.
const (
	setLen    = 16
	keyLen    = setLen + 16
	valueLen  = 8
	windowLen = 4
)

// A message with the key identityKey holds, as JSON, the identity that the
// member used which loaded the partition last. It belongs to no set.
const identityKey = "identity"

// identityOf returns the identity in a message, and whether there is one.
func identityOf(r *kafka.Record) (id keyset.Identity, is bool) {
	if string(r.Key) != identityKey {
		return nil, false
	}
	return id, r.Value != nil && json.Unmarshal(r.Value, &id) == nil
}

// A setID is the hash of the identity of a set.
type setID [setLen]byte

// idOf returns the setID of an identity.
func idOf(id keyset.Identity) (s setID, err error) {
	text, err := json.Marshal(id) // Marshal sorts the names, so equal identities have equal texts
	if err != nil {
		return s, err
	}
	h := sha256.Sum256(text)
	copy(s[:], h[:])
	return s, nil
}

// An entryWriter writes the messages of entries.
type entryWriter struct {
	set     setID
	windows bool
	key     [keyLen]byte
	value   [valueLen + windowLen]byte
}

// message returns the message of f. The next call overwrites it.
func (w *entryWriter) message(f engine.FirstKey, millis int64) *kafka.Record {
	r := w.tombstone(keyset.KeyOf(f.Key.Uint64s()), millis)
	r.Value = binary.BigEndian.AppendUint64(w.value[:0], uint64(f.At))
	if w.windows {
		r.Value = binary.BigEndian.AppendUint32(r.Value, f.Window)
	}
	return r
}

// tombstone returns the message that removes the entry of k. The next call
// overwrites it.
func (w *entryWriter) tombstone(k keyset.Key, millis int64) *kafka.Record {
	copy(w.key[:], w.set[:])
	binary.BigEndian.PutUint64(w.key[setLen:], k.Hi)
	binary.BigEndian.PutUint64(w.key[setLen+8:], k.Lo)
	return &kafka.Record{Millis: millis, Key: w.key[:]}
}

// errForeign means that a message was not written by this package.
var errForeign = errors.New("not a dedupe entry: another program writes to the topic of dedupe.changelog")

// entryOf returns the entry of a message, and whether it belongs to set. A
// message with a null value belongs to no set.
func entryOf(r *kafka.Record, set setID) (f engine.FirstKey, ours bool, err error) {
	if len(r.Key) != keyLen || r.Value != nil && len(r.Value) != valueLen && len(r.Value) != valueLen+windowLen {
		return f, false, errForeign
	}
	if r.Value == nil || setID(r.Key[:setLen]) != set {
		return f, false, nil
	}
	f.Key = codec.KeyFrom([16]byte(r.Key[setLen:]))
	f.At = int64(binary.BigEndian.Uint64(r.Value))
	if window := r.Value[valueLen:]; len(window) > 0 {
		f.Window = binary.BigEndian.Uint32(window)
	}
	return f, true, nil
}
