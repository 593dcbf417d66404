package file

import (
	"encoding/base64"

	"github.com/cespare/xxhash/v2"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

// A textHash is the running hash of a decoded text, XXH64. Its state is stored
// with the position, so that the text can be hashed on from there after a restart,
// also from the middle of a gzip member. It costs 2 % of the time that reading a
// gzip log takes; SHA-256, whose state could be stored too, costs 15 % with the
// SHA instructions of the processor and far more without them. Two files that
// differ get the same hash once in 2^64 by chance. Somebody who may write the
// input can make two such files, and can as well delete it.
type textHash struct{ xxhash.Digest }

// newTextHash returns the hash of no text.
func newTextHash() (h textHash) {
	h.Reset()
	return h
}

// text returns the state, for a checkpoint.
func (h *textHash) text() string {
	state, _ := h.MarshalBinary() // it never fails
	return base64.RawStdEncoding.EncodeToString(state)
}

// storedHash returns the hash of an entry and the offset where it begins. An entry
// without one, of an older program, or whose state another version of the library
// wrote, gets a hash that begins at its position.
func storedHash(e *checkpoint.Entry) (h textHash, from int64) {
	state, err := base64.RawStdEncoding.DecodeString(e.Hash)
	if err == nil && h.UnmarshalBinary(state) == nil {
		return h, e.HashFrom
	}
	return newTextHash(), e.Offset
}
