package inflate

import "unsafe"

const (
	// fastInput is how many bytes of input the fast loop needs to begin a symbol: it
	// loads 8 of them up to three times.
	fastInput = 32
	// fastRoom is how many bytes of room it needs: for two literals and a match, copied
	// 32 bytes at a time.
	fastRoom = 2 + maxMatch + 32
)

// fast decodes symbols while input and room are plenty, as they must be at the start.
// It stops before the end of the block, and before every symbol that is not allowed.
func (r *Reader) fast() {
	b, o := &r.bits, len(r.out)
	lastPos, lastOut := len(b.in)-fastInput, cap(r.out)-fastRoom
	in, out := unsafe.Pointer(unsafe.SliceData(b.in)), unsafe.Pointer(unsafe.SliceData(r.out))
	literals, distances := (*[literalTable]entry)(r.literals.table), (*[distanceTable]entry)(r.distances.table)
	acc, n, pos := refill(in, b.acc, b.n, b.pos)
	e := literals[acc&literalMask] // the next entry, not yet taken
	for pos <= lastPos && o <= lastOut {
		// Of 56 bits, two literals take 22 at most, and leave enough for a length.
		if e&entryLiteral != 0 {
			acc, n = take(acc, n, e)
			o = put(out, o, e)
			if e = literals[acc&literalMask]; e&entryLiteral != 0 {
				acc, n = take(acc, n, e)
				o = put(out, o, e)
				if e = literals[acc&literalMask]; e&entryLiteral != 0 {
					acc, n, pos = refill(in, acc, n, pos)
					continue
				}
			}
		}
		begin, beginN, beginPos := acc, n, pos // of the length
		if e&entrySpecial != 0 {
			if e&entryLink == 0 {
				break // the end of the block, or nothing that is allowed
			}
			e = literals[linked(acc>>literalRoot, e)&(literalTable-1)]
			if e&entrySpecial != 0 {
				break
			}
			acc, n = acc>>literalRoot, n-literalRoot
			if e&entryLiteral != 0 {
				acc, n = take(acc, n, e)
				o = put(out, o, e)
				acc, n, pos = refill(in, acc, n, pos)
				e = literals[acc&literalMask]
				continue
			}
		}
		length := meaning(acc, e)
		acc, n = take(acc, n, e)
		acc, n, pos = refill(in, acc, n, pos)
		e = distances[acc&distanceMask]
		if e&entryLink != 0 {
			acc, n = acc>>distanceRoot, n-distanceRoot
			e = distances[linked(acc, e)&(distanceTable-1)]
		}
		distance := meaning(acc, e)
		if e&entrySpecial != 0 || distance > o {
			acc, n, pos = begin, beginN, beginPos
			break
		}
		acc, n = take(acc, n, e)
		acc, n, pos = refill(in, acc, n, pos)
		e = literals[acc&literalMask]
		if from := o - distance; distance >= 16 {
			move16(out, o, from)
			move16(out, o+16, from+16)
			if length > 32 {
				copyFar(out, o+32, from+32, o+length)
			}
		} else {
			copyNear(out, o, from, o+length)
		}
		o += length
	}
	r.out = r.out[:o]
	b.acc, b.n, b.pos = acc, n, pos
}

const (
	literalMask  = 1<<literalRoot - 1
	distanceMask = 1<<distanceRoot - 1
)

// refill has 56 to 63 bits in acc, of the input from pos on. Bits above n are those
// that follow, so that they may be loaded again.
func refill(in unsafe.Pointer, acc uint64, n uint, pos int) (uint64, uint, int) {
	return acc | load64(in, pos)<<(n&63), n | 56, pos + int((63-n)>>3)
}

// take takes the bits of an entry, its extra bits among them.
func take(acc uint64, n uint, e entry) (uint64, uint) { return acc >> (e & 63), n - uint(e&0xff) }

// put writes the literal of an entry to out[o], and returns what is behind it.
func put(out unsafe.Pointer, o int, e entry) int {
	store8(out, o, byte(e>>entryValue))
	return o + 1
}

// meaning returns the length or distance of an entry, with its extra bits in acc.
func meaning(acc uint64, e entry) int {
	return int(e>>entryValue&0x7fff) + int(acc&ones(e)>>(e>>8&15))
}

// linked returns the place in the table that a link refers to, with the bits behind
// those of the link in acc.
func linked(acc uint64, link entry) uint64 { return uint64(link>>entryValue) + acc&ones(link>>8&15) }

// ones returns n ones, n below 64.
func ones(n entry) uint64 { return 1<<(n&63) - 1 }

// copyFar copies to out[to:end], and perhaps 31 bytes more, from 16 bytes before to or
// from farther away.
func copyFar(out unsafe.Pointer, to, from, end int) {
	for ; to < end; to, from = to+32, from+32 {
		move16(out, to, from)
		move16(out, to+16, from+16)
	}
}

// copyNear copies to out[to:end], and perhaps 7 bytes more, what repeats itself after
// less than 16 bytes.
func copyNear(out unsafe.Pointer, to, from, end int) {
	if to-from >= 8 {
		for ; to < end; to, from = to+8, from+8 {
			move8(out, to, from)
		}
		return
	}
	for ; to < end; to, from = to+1, from+1 {
		store8(out, to, *(*byte)(unsafe.Add(out, from)))
	}
}
