package inflate

import "unsafe"

const (
	// fastInput is the number of input bytes that the fast loop needs for a
	// symbol: it loads 8 bytes up to three times.
	fastInput = 32
	// fastRoom is the space in bytes that the fast loop needs in the output:
	// three literals and a match, which is copied 32 bytes at a time.
	fastRoom = 3 + maxMatch + 32
)

// fast decodes symbols while there is plenty of input and output space; the
// caller must have checked plenty. It stops before the end of the block and
// before every invalid symbol.
func (r *Reader) fast() {
	b := &r.bits
	l := loop{
		in:        unsafe.Pointer(unsafe.SliceData(b.in)),
		out:       unsafe.Pointer(unsafe.SliceData(r.out)),
		literals:  (*[literalTable]entry)(r.literals.table),
		distances: (*[distanceTable]entry)(r.distances.table),
		lastPos:   len(b.in) - fastInput,
		lastOut:   cap(r.out) - fastRoom,
		acc:       b.acc, n: b.n, pos: b.pos, o: len(r.out),
	}
	l.run()
	r.out = r.out[:l.o]
	b.seek((b.base+int64(l.pos))*8 - int64(l.n))
}

// A loop is the state of the fast loop. The loops in Go and in assembly may
// stop at different symbols, and with a different part of the input in acc.
// Therefore only pos and n are valid at the end: they give the position of the
// next bit.
type loop struct {
	in, out          unsafe.Pointer
	literals         *[literalTable]entry
	distances        *[distanceTable]entry
	lastPos, lastOut int // the loop ends when pos or o is larger

	acc uint64 // as in bitReader; not set at the end
	n   uint   // number of bits before in[pos] that are not decoded
	pos int
	o   int // length of out
}

// portable decodes symbols on processors without a loop in assembly.
func (l *loop) portable() {
	in, out, o := l.in, l.out, l.o
	literals, distances := l.literals, l.distances
	acc, n, pos := refill(in, l.acc, l.n, l.pos)
	e := literals[acc&literalMask] // the next entry, not yet consumed
	for pos <= l.lastPos && o <= l.lastOut {
		// Two literals take at most 22 of 56 bits and leave enough for a
		// length.
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
		begin := 8*pos - int(n) // the start of the length
		if e&entrySpecial != 0 {
			if e&entryLink == 0 {
				break // the end of the block, or an invalid symbol
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
			n = uint(8*pos - begin)
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
	l.n, l.pos, l.o = n, pos, o
}

const (
	literalMask  = 1<<literalRoot - 1
	distanceMask = 1<<distanceRoot - 1
)

// refill returns acc with 56 to 63 valid bits, loaded from the input at pos.
// The bits from n on equal the following input, so loading them again is
// harmless.
func refill(in unsafe.Pointer, acc uint64, n uint, pos int) (uint64, uint, int) {
	return acc | load64(in, pos)<<(n&63), n | 56, pos + int((63-n)>>3)
}

// take consumes the bits of an entry, including its extra bits.
func take(acc uint64, n uint, e entry) (uint64, uint) { return acc >> (e & 63), n - uint(e&0xff) }

// put writes the literal of an entry to out[o] and returns the next index.
func put(out unsafe.Pointer, o int, e entry) int {
	store8(out, o, byte(e>>entryValue))
	return o + 1
}

// meaning returns the length or distance of an entry whose code and extra bits
// are the next bits of acc.
func meaning(acc uint64, e entry) int {
	return int(e>>entryValue&0x7fff) + int(acc&ones(e)>>(e>>8&15))
}

// linked returns the index of the table entry that a link leads to. The next
// bits of acc are those after the bits of the link.
func linked(acc uint64, link entry) uint64 { return uint64(link>>entryValue) + acc&ones(link>>8&15) }

// ones returns a value whose lowest n bits are one; n is below 64.
func ones(n entry) uint64 { return 1<<(n&63) - 1 }

// copyFar copies from out[from:] to out[to:end], and up to 31 bytes more. The
// source starts at least 16 bytes before the destination.
func copyFar(out unsafe.Pointer, to, from, end int) {
	for ; to < end; to, from = to+32, from+32 {
		move16(out, to, from)
		move16(out, to+16, from+16)
	}
}

// copyNear copies from out[from:] to out[to:end], and up to 7 bytes more. The
// source starts less than 16 bytes before the destination, so the data repeats.
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
