//go:build unix

package table

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// heapKeys is the largest number of keys that allocate takes from the heap.
// Outside the heap, keys that need less than a page would waste the rest of the
// page, and each page takes an entry of the processor's TLB.
const heapKeys = 256

// allocate returns n zero keys, most often outside the heap, so that release
// gives the memory back immediately and the garbage collector never waits for
// twice the size of the set.
func allocate(n int) ([]Key, error) {
	if n <= heapKeys {
		return make([]Key, n), nil
	}
	b, err := AllocateBytes(n * slotBytes)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*Key)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// release gives back the memory of allocate. The keys must not be used later.
func release(keys []Key) {
	if len(keys) <= heapKeys {
		return
	}
	ReleaseBytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys)*slotBytes))
}

func count(n int) {
	if Outside != nil {
		Outside(int64(n))
	}
}

// AllocateBytes is allocate for bytes.
func AllocateBytes(n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("allocate %d bytes for keys: %w", n, err)
	}
	wantHugePages(b)
	count(n)
	return b, nil
}

// ReleaseBytes gives back the memory of AllocateBytes.
func ReleaseBytes(b []byte) {
	if len(b) > 0 && unix.Munmap(b) == nil {
		count(-len(b))
	}
}
