package inflate

import (
	"math/rand/v2"
	"slices"
)

// A writer writes deflate data of random symbols and records where each ends.
type writer struct {
	rnd  *rand.Rand
	data []byte
	bits int
	text []byte
	ends []end // ends of all symbols with output
}

// An end is the length of the output after a symbol, and the bit at which the
// symbol ends.
type end struct{ bit, text int }

// before returns the length of the text that the first n bits encode.
func (w *writer) before(n int) int {
	text := 0
	for _, e := range w.ends {
		if e.bit <= n {
			text = e.text
		}
	}
	return text
}

// put writes k bits of v, the least significant first.
func (w *writer) put(v, k int) {
	for i := range k {
		if w.bits%8 == 0 {
			w.data = append(w.data, 0)
		}
		w.data[w.bits/8] |= byte(v>>i&1) << (w.bits % 8)
		w.bits++
	}
}

// note records that a symbol is complete.
func (w *writer) note() { w.ends = append(w.ends, end{w.bits, len(w.text)}) }

// A testCode maps symbols to codes, with their bits from left to right.
type testCode []string

// canonical returns the code with these lengths according to section 3.2.2.
func canonical(lengths []int) testCode {
	c := make(testCode, len(lengths))
	next := 0
	for n := 1; n <= maxCodeLen; n++ {
		next *= 2
		for symbol, length := range lengths {
			if length == n {
				for i := n - 1; i >= 0; i-- {
					c[symbol] += string(rune('0' + next>>i&1))
				}
				next++
			}
		}
	}
	return c
}

// The fixed codes of section 3.2.6.
var (
	fixedLiterals = canonical(slices.Concat(
		slices.Repeat([]int{8}, 144), slices.Repeat([]int{9}, 112), slices.Repeat([]int{7}, 24), slices.Repeat([]int{8}, 8)))
	fixedDistances = canonical(slices.Repeat([]int{5}, 32))
)

// symbol writes a symbol.
func (w *writer) symbol(c testCode, symbol int) {
	for _, bit := range c[symbol] {
		w.put(int(bit-'0'), 1)
	}
}

// split returns the lengths of a random complete code for n symbols, at least
// two.
func (w *writer) split(n int) []int {
	lengths := []int{1, 1}
	for len(lengths) < n {
		i := w.rnd.IntN(len(lengths))
		if w.rnd.IntN(3) == 0 {
			i = len(lengths) - 1 // for some long codes
		}
		if lengths[i] < maxCodeLen {
			lengths[i]++
			lengths = append(lengths, lengths[i])
		}
	}
	w.rnd.Shuffle(n, func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
	return lengths
}

// block writes a block with about n symbols.
func (w *writer) block(n int, final bool) {
	last := 0
	if final {
		last = 1
	}
	w.put(last, 1)
	switch w.rnd.IntN(3) {
	case 0:
		w.stored(n)
	case 1:
		w.put(1, 2)
		w.symbols(n, fixedLiterals, fixedDistances)
	case 2:
		w.put(2, 2)
		w.dynamic(n)
	}
}

// stored writes a stored block.
func (w *writer) stored(n int) {
	w.put(0, 2)
	w.put(0, (8-w.bits%8)%8)
	w.put(n, 16)
	w.put(^n, 16)
	for range n {
		c := w.rnd.IntN(256)
		w.put(c, 8)
		w.text = append(w.text, byte(c))
		w.note()
	}
}

// dynamic writes a block with dynamic codes. All code lengths have codes of
// four bits, and none is repeated.
func (w *writer) dynamic(n int) {
	literals, distances := w.split(maxLiterals), w.split(maxDistances)
	w.put(maxLiterals-257, 5)
	w.put(maxDistances-1, 5)
	w.put(len(lengthOrder)-4, 4)
	of := make([]int, len(lengthOrder))
	for _, symbol := range lengthOrder {
		if symbol < 16 {
			of[symbol] = 4
		}
		w.put(of[symbol], 3)
	}
	for _, length := range append(literals, distances...) {
		w.symbol(canonical(of), length)
	}
	w.symbols(n, canonical(literals), canonical(distances))
}

// symbols writes random symbols of a compressed block, and its end.
func (w *writer) symbols(n int, literals, distances testCode) {
	for range n {
		if len(w.text) == 0 || w.rnd.IntN(2) == 0 {
			c := w.rnd.IntN(256)
			w.symbol(literals, c)
			w.text = append(w.text, byte(c))
			w.note()
		} else {
			w.match(literals, distances)
		}
	}
	w.symbol(literals, endOfBlock)
}

// match writes a random match.
func (w *writer) match(literals, distances testCode) {
	l := w.rnd.IntN(29)
	w.symbol(literals, 257+l)
	length := w.extra(testLengths[l])
	d := w.rnd.IntN(30)
	for testDistances[d][0]+1<<testDistances[d][1]-1 > len(w.text) {
		d = w.rnd.IntN(d)
	}
	w.symbol(distances, d)
	w.copy(length, w.extra(testDistances[d]))
}

// exactly writes a match with the fixed codes.
func (w *writer) exactly(length, distance int) {
	l := last(testLengths[:], length)
	w.symbol(fixedLiterals, 257+l)
	w.put(length-testLengths[l][0], testLengths[l][1])
	d := last(testDistances[:], distance)
	w.symbol(fixedDistances, d)
	w.put(distance-testDistances[d][0], testDistances[d][1])
	w.copy(length, distance)
}

// last returns the index of the last range that begins at or before v.
func last(ranges [][2]int, v int) int {
	i := len(ranges) - 1
	for ranges[i][0] > v {
		i--
	}
	return i
}

// copy repeats text.
func (w *writer) copy(length, distance int) {
	for range length {
		w.text = append(w.text, w.text[len(w.text)-distance])
	}
	w.note()
}

// extra writes random extra bits after a symbol and returns their value.
func (w *writer) extra(e [2]int) int {
	v := w.rnd.IntN(1 << e[1])
	w.put(v, e[1])
	return e[0] + v
}

// The tables of section 3.2.5 as printed there: base and extra bits.
var testLengths = [29][2]int{
	{3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {9, 0}, {10, 0},
	{11, 1}, {13, 1}, {15, 1}, {17, 1}, {19, 2}, {23, 2}, {27, 2}, {31, 2},
	{35, 3}, {43, 3}, {51, 3}, {59, 3}, {67, 4}, {83, 4}, {99, 4}, {115, 4},
	{131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0},
}

var testDistances = [30][2]int{
	{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 1}, {7, 1}, {9, 2}, {13, 2}, {17, 3}, {25, 3},
	{33, 4}, {49, 4}, {65, 5}, {97, 5}, {129, 6}, {193, 6}, {257, 7}, {385, 7},
	{513, 8}, {769, 8}, {1025, 9}, {1537, 9}, {2049, 10}, {3073, 10}, {4097, 11}, {6145, 11},
	{8193, 12}, {12289, 12}, {16385, 13}, {24577, 13},
}
