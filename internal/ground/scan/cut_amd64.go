package scan

import "golang.org/x/sys/cpu"

var vectorCLMUL = vector && cpu.X86.HasPCLMULQDQ

// cutAVX2 is Cut for n blocks of 64 bytes. It returns what the block after them needs to
// know; spans is not 0 if a quoted cell has a line feed.
//
//go:noescape
func cutAVX2(text *byte, n int, quote, sep byte) (cut int, inside, starts, spans uint64, gaveUp bool)
