package file

import (
	"encoding/base64"

	"github.com/cespare/xxhash/v2"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

// A textHash is the running hash (XXH64) of a decoded text. Its state is stored with
// the position, so that hashing can resume there after a restart, even in the middle of
// a gzip member. It takes 2 % of the time needed to read a gzip log; SHA-256, whose
// state could be stored too, takes 15 % with the SHA instructions of the processor and
// far more without them. Two different files have the same hash by chance once in 2^64.
// An attacker who can write the input can construct two such files, but could also
// delete the input.
type textHash struct{ xxhash.Digest }

// newTextHash returns the hash of an empty text.
func newTextHash() (h textHash) {
	h.Reset()
	return h
}

// text returns the encoded state for a checkpoint.
func (h *textHash) text() string {
	state, _ := h.MarshalBinary() // it never fails
	return base64.RawStdEncoding.EncodeToString(state)
}

// storedHash returns the hash stored in an entry and the offset where the
// hashed text begins. An older version may have written the entry without a
// hash, or another version of the hash library its state. In these cases, the
// hash begins at the position of the entry.
func storedHash(e *checkpoint.Entry) (h textHash, from int64) {
	state, err := base64.RawStdEncoding.DecodeString(e.Hash)
	if err == nil && h.UnmarshalBinary(state) == nil {
		return h, e.HashFrom
	}
	return newTextHash(), e.Offset
}
