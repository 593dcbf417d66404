package scan

// blockAVX2 sets the words of marks for n blocks of 64 bytes: in class, the
// bytes in the set; in feeds, the line feeds; and in same, the line feeds and
// the bytes equal to x.
//
//go:noescape
func blockAVX2(class, feeds, same *uint64, text *byte, n int, nibbles *[32]uint8, x byte)
