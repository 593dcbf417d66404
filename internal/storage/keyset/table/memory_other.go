//go:build !unix

package table

// allocate returns n zero keys.
func allocate(n int) ([]Key, error) { return make([]Key, n), nil }

// release leaves the memory of allocate to the garbage collector.
func release([]Key) {}

// AllocateBytes returns n zero bytes.
func AllocateBytes(n int) ([]byte, error) { return make([]byte, n), nil }

// ReleaseBytes leaves the memory of AllocateBytes to the garbage collector.
func ReleaseBytes([]byte) {}
