//go:build !amd64

package scan

const vector = false

func endAVX2(*byte, int, int, *[32]uint8) int { panic("scan: no vectors here") }

func pathEndAVX2(*byte, int, int, *[32]uint8) int { panic("scan: no vectors here") }

func slashEndAVX2(*byte, int, int, *[32]uint8) int { panic("scan: no vectors here") }

func labelsAVX2(*byte, int, int, *[32]uint8) (int, uint32) { panic("scan: no vectors here") }

func markAVX2(*uint64, *byte, int, *[32]uint8) { panic("scan: no vectors here") }

func surveyAVX2(*byte, int, *[64]uint8, *word, *labels) { panic("scan: no vectors here") }
