package inflate

import "sync"

// codes holds the codes of a block and the space for their tables.
type codes struct {
	literals, distances, lengths code

	literalTable  [literalTable]entry
	distanceTable [distanceTable]entry
	lengthTable   [lengthTable]entry
}

func (c *codes) init() {
	c.literals = code{literalRoot, c.literalTable[:]}
	c.distances = code{distanceRoot, c.distanceTable[:]}
	c.lengths = code{lengthRoot, c.lengthTable[:]}
}

// fixedCodes returns the fixed codes of section 3.2.6.
func fixedCodes() (literals, distances *code) {
	c := fixed()
	return &c.literals, &c.distances
}

var fixed = sync.OnceValue(func() *codes {
	var lengths [maxSymbols]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	c := new(codes)
	c.init()
	c.literals.set(literalMeanings[:], lengths[:])
	for i := range distanceMeanings {
		lengths[i] = 5
	}
	c.distances.set(distanceMeanings[:], lengths[:len(distanceMeanings)])
	return c
})

// dynamicCodes reads the codes of a block, section 3.2.7.
func (r *Reader) dynamicCodes() error {
	v, err := r.bits.take(14)
	if err != nil {
		return err
	}
	literals, distances, n := int(v&31)+257, int(v>>5&31)+1, int(v>>10)+4
	if literals > maxLiterals || distances > maxDistances {
		return r.bits.corrupt("too many length or distance symbols")
	}
	var lengths [maxLiterals + maxDistances]uint8
	for _, symbol := range lengthOrder[:n] {
		v, err := r.bits.take(3)
		if err != nil {
			return err
		}
		lengths[symbol] = uint8(v)
	}
	if !r.own.lengths.set(lengthMeanings[:], lengths[:len(lengthOrder)]) {
		return r.bits.corrupt("invalid code for code lengths")
	}
	if err := r.codeLengths(lengths[:literals+distances]); err != nil {
		return err
	}
	if !r.own.literals.set(literalMeanings[:], lengths[:literals]) ||
		!r.own.distances.set(distanceMeanings[:], lengths[literals:literals+distances]) {
		return r.bits.corrupt("invalid code")
	}
	r.literals, r.distances = &r.own.literals, &r.own.distances
	r.step = (*Reader).symbols
	return nil
}

// codeLengths reads the code lengths of literals and distances.
func (r *Reader) codeLengths(lengths []uint8) error {
	for i := 0; i < len(lengths); {
		e, err := r.symbol(&r.own.lengths)
		if err != nil {
			return err
		}
		symbol := e.value()
		if symbol < 16 {
			lengths[i] = uint8(symbol)
			i++
			continue
		}
		length, times, err := r.repeat(symbol, lengths[:i])
		if err != nil {
			return err
		}
		if times > len(lengths)-i {
			return r.bits.corrupt("too many code lengths")
		}
		for range times {
			lengths[i] = length
			i++
		}
	}
	return nil
}

// repeat reads the rest of a symbol that repeats a length.
func (r *Reader) repeat(symbol int, before []uint8) (length uint8, times int, err error) {
	e := repeats[symbol-16]
	if symbol == 16 {
		if len(before) == 0 {
			return 0, 0, r.bits.corrupt("no code length to repeat")
		}
		length = before[len(before)-1]
	}
	v, err := r.bits.take(e.bits)
	return length, e.base + int(v), err
}
