package table

import "golang.org/x/sys/unix"

// hugePage is the size of a huge page of most processors.
const hugePage = 2 << 20

// wantHugePages asks for huge pages, so that the processor needs fewer entries of
// its TLB: each search reads another page. If there are none, nothing is lost.
func wantHugePages(b []byte) {
	if len(b) >= hugePage {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
