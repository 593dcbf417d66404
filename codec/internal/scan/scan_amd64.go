package scan

import "golang.org/x/sys/cpu"

var vector = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// endAVX2 is Set.End for a text of n bytes, at least 32.
//
//go:noescape
func endAVX2(text *byte, n, i int, nibbles *[32]uint8) int

// pathEndAVX2 is Set.PathEnd for a text of n bytes, at least 33.
//
//go:noescape
func pathEndAVX2(text *byte, n, i int, nibbles *[32]uint8) int

// labelsAVX2 is Set.Labels for a text of n bytes, at least 32.
//
//go:noescape
func labelsAVX2(text *byte, n, i int, nibbles *[32]uint8) (end int, pauses uint32)
