//go:build !amd64

package scan

const vectorCLMUL = false

func cutQuotedAVX512(*byte, int, byte, byte) (int, bool) { panic("scan: no vectors here") }

func lineOfCellsAVX512(*byte, int, byte, byte, *uint64, *uint64) (int, uint64) {
	panic("scan: no vectors here")
}
