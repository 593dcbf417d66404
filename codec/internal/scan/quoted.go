package scan

// CutsQuoted reports whether this processor has AVX-512 and PCLMULQDQ, without which
// CutQuoted and MarkCells must not be called.
func CutsQuoted() bool { return vectorCLMUL }

// CutQuoted returns the length of the longest prefix of text that consists of whole
// records of a table: that ends in a line feed outside of quotes. text must begin with a
// record. A quote must open or close a cell, or be doubled inside of one (RFC 4180 §2).
// At another quote, CutQuoted gives up, and n counts no record that ends in the block of
// 64 bytes with that quote.
func CutQuoted(text []byte, quote, sep byte) (n int, gaveUp bool) {
	if len(text) == 0 {
		return 0, false
	}
	return cutQuotedAVX512(&text[0], len(text), quote, sep)
}

// MarkCells is MarkLine for a record of a table that is one line: quotes get the marks of
// quotes, and ends those of separators outside of quotes. bare says that the line has no
// quotes. n is 0 also if CutQuoted would give up at a quote of the line, or if the line
// feed is inside of quotes.
func MarkCells(quotes, ends Marks, text []byte, quote, sep byte) (_, _ Marks, n int, bare bool) {
	text = text[:min(len(text), maxLine)]
	quotes, ends = quotes.resize(len(text)>>6+2), ends.resize(len(text)>>6+2)
	if len(text) == 0 {
		return quotes, ends, 0, false
	}
	n, all := lineOfCellsAVX512(&text[0], len(text), quote, sep, &quotes[0], &ends[0])
	return quotes, ends, n, all == 0
}
