// Package inflate decodes deflate data, RFC 1951, fast and exactly: it decodes
// every symbol whose bits are all in the input, and no other.
//
// Common libraries read ahead: they decode a symbol only when the input holds
// as many bits as the end-of-block code needs, so they lose the last symbols of
// a truncated stream. A [Reader] consumes only the bits of the symbols that it
// decodes, and leaves its source directly after the last byte that it used.
//
// A [Reader] starts at the beginning of a stream, or at any block inside it,
// given the window and the bit number that [Reader.Block] and [Reader.Window]
// returned there. It ends in one of three ways:
//
//	io.EOF               after the final block
//	io.ErrUnexpectedEOF  at the first symbol that is not completely in the input
//	*CorruptError        at the first symbol or header that the RFC does not allow
//
// In each case it returns all output before the end. The package accepts
// exactly the streams that compress/flate accepts; its tests compare the two.
// The only incomplete prefix codes it accepts are a code of a single one-bit
// symbol, and a code without symbols that is not used.
//
// Two loops decode symbols. The loop in careful.go decodes and validates one
// symbol at a time. The fast loop runs while there is plenty of input and output
// space, and stops before any symbol that needs validation, so only the careful
// loop reports errors. It exists in Go (fast.go), and in assembly for amd64
// processors with BMI2 (fast_amd64.s), where it takes a fifth less time.
//
// # Files
//
//	inflate.go, bits.go, memory.go Reader, and the bits that it reads
//	tables.go, code.go, codes.go   the codes of a block
//	careful.go, fast.go, fast_*.go the two loops
package inflate
