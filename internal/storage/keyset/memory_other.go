//go:build !unix

package keyset

// allocate returns n zero keys.
func allocate(n int) ([]Key, error) { return make([]Key, n), nil }

// release leaves the memory of allocate to the garbage collector.
func release([]Key) {}

// allocateBytes returns n zero bytes.
func allocateBytes(n int) ([]byte, error) { return make([]byte, n), nil }

// releaseBytes leaves the memory of allocateBytes to the garbage collector.
func releaseBytes([]byte) {}
