package scan

import (
	"encoding/binary"
	"math/bits"
)

// Cut returns the length of the longest prefix of text that consists of whole
// records of a table, which means that it ends in a line feed outside quotes.
// text must begin with a record. A quote must open or close a cell, or be
// doubled inside a cell (RFC 4180 §2). At any other quote, Cut gives up, and n
// counts no record that ends in the block of 64 bytes with that quote. If spans
// is not set, no quoted cell of these records has a line feed. quote and sep
// are ASCII bytes other than 0.
func Cut(text []byte, quote, sep byte) (n int, spans, gaveUp bool) {
	inside, starts, within := uint64(0), uint64(1), uint64(0) // whether a block begins inside of quotes, and whether a cell can start with it
	from := 0
	if vectorCLMUL && len(text) >= 64 {
		from = len(text) &^ 63
		if n, inside, starts, within, gaveUp = cutAVX2(&text[0], from>>6, quote, sep); gaveUp {
			return n, within != 0, true
		}
	}
	for ; from < len(text); from += 64 {
		var last [64]byte
		block := &last
		if rest := text[from:]; len(rest) >= 64 {
			block = (*[64]byte)(rest)
		} else {
			copy(last[:], rest)
		}
		var quotes, seps, feeds uint64
		for i := 0; i <= 56; i += 8 {
			w := binary.LittleEndian.Uint64(block[i : i+8])
			quotes |= gather(equal(w, quote)) << i
			seps |= gather(equal(w, sep)) << i
			feeds |= gather(equal(w, '\n')) << i
		}
		breaks := seps | feeds | quotes // a doubled quote closes the cell and opens it again
		in := prefixXOR(quotes) ^ inside
		if quotes&in&^(breaks<<1|starts) != 0 {
			return n, within != 0, true
		}
		within |= feeds & in
		inside, starts = -(in >> 63), breaks>>63
		if feeds &^= in; feeds != 0 {
			n = from + bits.Len64(feeds)
		}
	}
	return n, within != 0, false
}

// prefixXOR returns a word in which each bit is the XOR of the bits of w up to
// and including that bit.
func prefixXOR(w uint64) uint64 {
	for k := 1; k < 64; k *= 2 {
		w ^= w << k
	}
	return w
}
