//go:build !amd64

package scan

var vector bool

func endAVX2(*byte, int, int, *[32]uint8) int { panic("scan: no vectors here") }

func slashEndAVX2(*byte, int, int, *[32]uint8) int { panic("scan: no vectors here") }

func dotEndAVX2(*byte, int, int, *[32]uint8) int { panic("scan: no vectors here") }

func markAVX2(*uint64, *byte, int, *[32]uint8) { panic("scan: no vectors here") }

func surveyAVX2(*Survey, *byte, int, int, *Classes) {
	panic("scan: no vectors here")
}

func chartAVX2(*byte, int, *[32]uint8, byte, byte) (uint64, uint64, uint64) {
	panic("scan: no vectors here")
}
