//go:build unix

package keyset

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// allocate returns n zero keys outside of the heap, so that release gives the
// memory back at once and the garbage collector never waits for twice the size
// of the set.
func allocate(n int) ([]Key, error) {
	b, err := unix.Mmap(-1, 0, n*slotBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("allocate %d bytes for keys: %w", n*slotBytes, err)
	}
	return unsafe.Slice((*Key)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// release gives back the memory of allocate. The keys must not be used later.
func release(keys []Key) {
	if len(keys) > 0 {
		_ = unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys)*slotBytes))
	}
}
