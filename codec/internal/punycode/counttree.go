package punycode

// A countTree holds counts for the positions 0 to len-2, with all operations in
// logarithmic time: a Fenwick tree. Element i holds the sum of the counts of
// the i&-i positions before position i.
type countTree []uint32

// add adds n, modulo 2^32, to the count of a position.
func (t countTree) add(place int, n uint32) {
	for i := place + 1; i < len(t); i += i & -i {
		t[i] += n
	}
}

// sum returns the sum of the counts before the given position.
func (t countTree) sum(place int) (n uint32) {
	for i := place; i > 0; i -= i & -i {
		n += t[i]
	}
	return n
}

// fill sets every count to 1.
func (t countTree) fill() {
	for i := range t {
		t[i] = uint32(i & -i)
	}
}

// find returns the position of the n-th item, numbered from 0. Every count must
// be 0 or 1, and there must be more than n items.
func (t countTree) find(n uint32) int {
	at, step := 0, 1
	for step*2 < len(t) {
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if next := at + step; next < len(t) && t[next] <= n {
			at, n = next, n-t[next]
		}
	}
	return at
}
