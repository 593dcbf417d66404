package scan

import "golang.org/x/sys/cpu"

var vector = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// endAVX2 is Set.End for a text of n bytes, at least 32.
//
//go:noescape
func endAVX2(text *byte, n, i int, nibbles *[32]uint8) int

// slashEndAVX2 is Set.SlashEnd for a text of n bytes, at least 33.
//
//go:noescape
func slashEndAVX2(text *byte, n, i int, nibbles *[32]uint8) int

// dotEndAVX2 is Set.PathEnd for a text of n bytes, at least 33. The first byte, which
// is '/', does not count.
//
//go:noescape
func dotEndAVX2(text *byte, n, i int, nibbles *[32]uint8) int

// markAVX2 sets the bits of words for the bytes of a text of n bytes, at least 32,
// that are outside the set. It writes 4 bytes for every 32 of the text.
//
//go:noescape
func markAVX2(words *uint64, text *byte, n int, nibbles *[32]uint8)

// surveyAVX2 is Survey.Read for a text of n bytes, at least 1, and an s with
// room. It also sets the bits after the text: the rest of the word with the
// last byte, and one more word. It may read bytes near the text that are on the
// same page. It copies the text in blocks of 64 bytes. The first block may
// begin up to 63 bytes before s.Copy, and the last block may end up to 64 bytes
// after the text.
//
//go:noescape
func surveyAVX2(s *Survey, text *byte, n, start int, c *Classes)

// chartAVX2 is Set.Chart for a text of n bytes, 1 to 64. It may read bytes near the
// text that are on the same page.
//
//go:noescape
func chartAVX2(text *byte, n int, nibbles *[32]uint8, a, b byte) (isA, isB, outside uint64)
