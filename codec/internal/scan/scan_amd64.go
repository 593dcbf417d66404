package scan

import "golang.org/x/sys/cpu"

var vector = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// endAVX2 is Set.End for a text of n bytes, at least 32.
//
//go:noescape
func endAVX2(text *byte, n, i int, nibbles *[32]uint8) int

// pathEndAVX2 is Set.PathEnd for a text of n bytes, at least 33.
//
//go:noescape
func pathEndAVX2(text *byte, n, i int, nibbles *[32]uint8) int

// slashEndAVX2 is Set.SlashEnd for a text of n bytes, at least 33.
//
//go:noescape
func slashEndAVX2(text *byte, n, i int, nibbles *[32]uint8) int

// labelsAVX2 is Set.Labels for a text of n bytes, at least 32.
//
//go:noescape
func labelsAVX2(text *byte, n, i int, nibbles *[32]uint8) (end int, pauses uint32)

// markAVX2 sets the bits of words for the bytes of a text of n bytes, at least 32,
// that are outside the set. It writes 4 bytes for every 32 of the text.
//
//go:noescape
func markAVX2(words *uint64, text *byte, n int, nibbles *[32]uint8)

// surveyAVX2 is Survey.Read for a text of n bytes, at least 1. It writes to the
// words that have bytes of the text, and to the labels. It may read bytes near
// the text that are on the same page.
//
//go:noescape
func surveyAVX2(text *byte, n int, nibbles *[64]uint8, words *word, labels *labels)
