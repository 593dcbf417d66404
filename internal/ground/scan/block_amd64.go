package scan

// blockAVX2 sets the words of class for the bytes in the set of n blocks of 64 bytes, the
// words of feeds for the line feeds, and the words of same for the line feeds and the bytes
// equal to x.
//
//go:noescape
func blockAVX2(class, feeds, same *uint64, text *byte, n int, nibbles *[32]uint8, x byte)
