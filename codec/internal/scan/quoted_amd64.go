package scan

import "golang.org/x/sys/cpu"

var vectorCLMUL = vector512 && cpu.X86.HasPCLMULQDQ

// cutQuotedAVX512 is CutQuoted for a text of n bytes, at least 1. It does not read bytes
// after the text.
//
//go:noescape
func cutQuotedAVX512(text *byte, n int, quote, sep byte) (cut int, gaveUp bool)

// lineOfCellsAVX512 is MarkCells, as lineOfTwoAVX512 is MarkLine. It returns the OR of the
// words with the quotes.
//
//go:noescape
func lineOfCellsAVX512(text *byte, n int, quote, sep byte, quotes, ends *uint64) (size int, all uint64)
