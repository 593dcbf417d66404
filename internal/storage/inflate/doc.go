// Package inflate decodes deflate data, RFC 1951, fast and exactly: every symbol
// whose bits are all in the input is decoded, and no other.
//
// The decoders of the libraries look ahead. They know that a block ends with a
// certain code, and decode no symbol before they have as many bits as that code,
// so they leave the last symbols of a truncated stream undecoded. A [Reader]
// takes the bits of the symbol alone, and its source is left behind the last byte
// that was used.
//
// A [Reader] begins at the start of a stream, or at any block inside it if it is
// given the window and the number of the bit; [Reader.Block] tells them. It ends in
// one of three ways:
//
//	io.EOF               after the final block
//	io.ErrUnexpectedEOF  at the first symbol that is not completely in the input
//	*CorruptError        at the first symbol or header that the RFC does not allow
//
// All output before the end comes out in each case. The package accepts exactly
// the streams that compress/flate accepts, which is what its tests compare it
// with: among incomplete prefix codes only the code of a single symbol of one
// bit, and a code of no symbols if it is not used.
//
// Two loops decode symbols. The one in careful.go takes one symbol after the other
// and judges it. The one in fast.go runs where input and room are plenty, and gives
// up before any symbol that needs a judgment: it never decides.
package inflate
