//go:build !amd64

package scan

var vectorCLMUL = false

func blockAVX2(_, _, _ *uint64, _ *byte, _ int, _ *[32]uint8, _ byte) {
	panic("scan: no vectors here")
}

func cutAVX2(*byte, int, byte, byte) (int, uint64, uint64, uint64, bool) {
	panic("scan: no vectors here")
}
