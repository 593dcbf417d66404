//go:build !amd64

package scan

func lineOfTwoAVX2(*byte, int, byte, byte, *uint64, *uint64) int { panic("scan: no vectors here") }

func lineAVX2(*byte, int, *[32]uint8, *uint64) int { panic("scan: no vectors here") }
