package lzma2

const (
	states        = 12
	literalStates = 7 // the states below this one follow a literal
	posStates     = 1 << 4
	literalProbs  = 0x300
	maxLcLp       = 4
	minMatch      = 2
	alignBits     = 4
	distStates    = 4
	firstModel    = 4  // first distance slot with extra bits
	endModel      = 14 // first distance slot with direct bits
	fullDistances = 128
)

// A lengths decodes the lengths of matches.
type lengths struct {
	choice, choice2 prob
	low, mid        [posStates][8]prob
	high            [256]prob
}

func (l *lengths) reset() {
	l.choice, l.choice2 = probInit, probInit
	for i := range l.low {
		resetProbs(l.low[i][:])
		resetProbs(l.mid[i][:])
	}
	resetProbs(l.high[:])
}

func (l *lengths) decode(d *rangeDecoder, pos uint32) uint32 {
	switch {
	case d.bit(&l.choice) == 0:
		return minMatch + d.tree(l.low[pos][:])
	case d.bit(&l.choice2) == 0:
		return minMatch + 8 + d.tree(l.mid[pos][:])
	}
	return minMatch + 16 + d.tree(l.high[:])
}

// An lzma is the state of the LZMA decoder between two symbols.
type lzma struct {
	rc    rangeDecoder
	state uint32
	rep   [4]uint32 // the last four distances, minus one

	lc, literalMask, posMask uint32

	match, rep0Long         [states][posStates]prob
	isRep, rep0, rep1, rep2 [states]prob
	slots                   [distStates][64]prob
	special                 [fullDistances]prob
	align                   [1 << alignBits]prob
	matchLen, repLen        lengths
	literal                 [literalProbs << maxLcLp]prob
}

// properties sets the properties from their byte, (pb * 5 + lp) * 9 + lc. It
// returns false if they are invalid.
func (z *lzma) properties(b byte) bool {
	n := uint32(b)
	lc, lp, pb := n%9, n/9%5, n/45
	if pb > 4 || lc+lp > maxLcLp {
		return false
	}
	z.lc, z.literalMask, z.posMask = lc, 1<<lp-1, 1<<pb-1
	return true
}

func (z *lzma) reset() {
	z.state, z.rep = 0, [4]uint32{}
	for i := range states {
		resetProbs(z.match[i][:])
		resetProbs(z.rep0Long[i][:])
	}
	for _, p := range [][]prob{z.isRep[:], z.rep0[:], z.rep1[:], z.rep2[:], z.special[:], z.align[:], z.literal[:]} {
		resetProbs(p)
	}
	for i := range z.slots {
		resetProbs(z.slots[i][:])
	}
	z.matchLen.reset()
	z.repLen.reset()
}

// symbol decodes the next symbol at the current position of dict. If length is
// 0 it is a literal, otherwise a match of that length at distance z.rep[0] + 1.
// The result is valid only if z.rc.over is false.
func (z *lzma) symbol(dict *dictionary) (length uint32, literal byte) {
	pos := uint32(dict.pos) & z.posMask
	s := z.state
	if z.rc.bit(&z.match[s][pos]) == 0 {
		literal = z.decodeLiteral(dict)
		switch {
		case s < 4:
			z.state = 0
		case s < 10:
			z.state = s - 3
		default:
			z.state = s - 6
		}
		return 0, literal
	}
	if z.rc.bit(&z.isRep[s]) == 0 {
		length = z.matchLen.decode(&z.rc, pos)
		z.rep[3], z.rep[2], z.rep[1] = z.rep[2], z.rep[1], z.rep[0]
		z.rep[0] = z.distance(length)
		z.state = after(s, 7)
		return length, 0
	}
	if z.repeated(s, pos) {
		z.state = after(s, 9)
		return 1, 0
	}
	z.state = after(s, 8)
	return z.repLen.decode(&z.rc, pos), 0
}

// after returns the state after a match in state s: the argument literal if a
// literal preceded the match, else a state three higher, limited to 10 and 11.
func after(s, literal uint32) uint32 {
	if s < literalStates {
		return literal
	}
	return max(10, min(literal+3, 11))
}

// repeated finds which of the last distances is used again and moves it to the
// front. It reports whether the match is a single byte.
func (z *lzma) repeated(s, pos uint32) bool {
	if z.rc.bit(&z.rep0[s]) == 0 {
		return z.rc.bit(&z.rep0Long[s][pos]) == 0
	}
	switch {
	case z.rc.bit(&z.rep1[s]) == 0:
		z.rep[0], z.rep[1] = z.rep[1], z.rep[0]
	case z.rc.bit(&z.rep2[s]) == 0:
		z.rep[0], z.rep[1], z.rep[2] = z.rep[2], z.rep[0], z.rep[1]
	default:
		z.rep[0], z.rep[1], z.rep[2], z.rep[3] = z.rep[3], z.rep[0], z.rep[1], z.rep[2]
	}
	return false
}

func (z *lzma) decodeLiteral(dict *dictionary) byte {
	at := uint32(dict.last())>>(8-z.lc) + uint32(dict.pos)&z.literalMask<<z.lc
	p := (*[literalProbs]prob)(z.literal[at*literalProbs:])
	n := uint32(1)
	if z.state < literalStates {
		for n < 0x100 {
			n = n<<1 | z.rc.bit(&p[n])
		}
		return byte(n)
	}
	// After a match, the byte that would have continued it selects the model.
	hint, offset := uint32(dict.at(z.rep[0])), uint32(0x100)
	for n < 0x100 {
		hint <<= 1
		h := hint & offset
		b := z.rc.bit(&p[offset+h+n])
		n = n<<1 | b
		if b == 0 {
			offset &^= h
		} else {
			offset &= h
		}
	}
	return byte(n)
}

// distance decodes the distance, minus one, of a match of the given length.
func (z *lzma) distance(length uint32) uint32 {
	slot := z.rc.tree(z.slots[min(length-minMatch, distStates-1)][:])
	if slot < firstModel {
		return slot
	}
	bits := slot>>1 - 1
	dist := (2 | slot&1) << bits
	if slot < endModel {
		return dist + z.rc.reverse(z.special[dist-slot:], bits)
	}
	dist += z.rc.direct(bits-alignBits) << alignBits
	return dist + z.rc.reverse(z.align[:], alignBits)
}
