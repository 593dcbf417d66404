package inflate

const (
	// Window is the maximum distance of a match in bytes, RFC 1951 section 2.
	Window = 32 << 10

	endOfBlock   = 256
	maxMatch     = 258
	maxCodeLen   = 15  // section 3.2.7
	maxLiterals  = 286 // symbols in a dynamic code, section 3.2.7
	maxDistances = 30
	maxSymbols   = 288 // symbols in the largest alphabet, of the fixed code

	maxBits = 2*maxCodeLen + 5 + 13 // maximum number of bits of a match, with its extra bits
)

// lengthOrder is the order in which a block stores the lengths of the codes for
// code lengths, section 3.2.7.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// An extra is the meaning of a symbol with extra bits: base plus their value.
type extra struct {
	base int
	bits uint
}

// lengthValues are the lengths from symbol 257 on, section 3.2.5.
var lengthValues = func() (t [maxLiterals - endOfBlock - 1]extra) {
	grow(t[:], 3, 4)
	t[len(t)-1] = extra{maxMatch, 0} // the longest length has no extra bits, unlike its neighbors
	return t
}()

// distanceValues are the distances by symbol, section 3.2.5.
var distanceValues = func() (t [maxDistances]extra) {
	grow(t[:], 1, 2)
	return t
}()

// grow fills a table. Each group of symbols after the first has one extra bit
// more than the group before.
func grow(t []extra, base int, group int) {
	for i := range t {
		t[i] = extra{base, uint(max(0, i/group-1))}
		base += 1 << t[i].bits
	}
}

// literalMeanings, distanceMeanings and lengthMeanings are the alphabets: they
// hold the meaning of each symbol, as an entry without the length of its code.
var (
	literalMeanings = func() (t [maxSymbols]entry) {
		for i := range endOfBlock {
			t[i] = entryLiteral | entry(i)<<entryValue
		}
		t[endOfBlock] = entryEnd
		for i, v := range lengthValues {
			t[endOfBlock+1+i] = entry(v.base)<<entryValue | entry(v.bits)
		}
		t[maxLiterals], t[maxLiterals+1] = entryReserved, entryReserved
		return t
	}()
	distanceMeanings = func() (t [32]entry) {
		for i, v := range distanceValues {
			t[i] = entry(v.base)<<entryValue | entry(v.bits)
		}
		t[maxDistances], t[maxDistances+1] = entryReserved, entryReserved
		return t
	}()
	lengthMeanings = func() (t [len(lengthOrder)]entry) {
		for i := range t {
			t[i] = entry(i) << entryValue
		}
		return t
	}()
)

// repeats are the symbols 16 to 18 of the code for code lengths, section 3.2.7.
var repeats = [...]extra{{3, 2}, {3, 3}, {11, 7}}
