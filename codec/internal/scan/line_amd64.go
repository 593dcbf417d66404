package scan

// lineOfTwoAVX2 is MarkLine for a text of n bytes, at least 1. It writes a word for
// every 64 bytes up to the line feed. It may read bytes near the text that are on the
// same page.
//
//go:noescape
func lineOfTwoAVX2(text *byte, n int, a, b byte, as, bs *uint64) int

// lineAVX2 is Set.MarkLine, as lineOfTwoAVX2 is MarkLine.
//
//go:noescape
func lineAVX2(text *byte, n int, nibbles *[32]uint8, words *uint64) int
