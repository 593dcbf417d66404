package inflate

// fixedCodes sets the fixed codes of section 3.2.6.
func (r *slowReader) fixedCodes() error {
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
	r.literals.set(lengths[:])
	for i := range 32 {
		lengths[i] = 5
	}
	r.distances.set(lengths[:32])
	r.step = (*slowReader).symbols
	return nil
}

// dynamicCodes reads the codes of a block, section 3.2.7.
func (r *slowReader) dynamicCodes() error {
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
	ofLengths := &r.literals // not needed before they are known
	if !ofLengths.set(lengths[:len(lengthOrder)]) {
		return r.bits.corrupt("invalid code for code lengths")
	}
	if err := r.codeLengths(ofLengths, lengths[:literals+distances]); err != nil {
		return err
	}
	if !r.literals.set(lengths[:literals]) || !r.distances.set(lengths[literals:literals+distances]) {
		return r.bits.corrupt("invalid code")
	}
	r.step = (*slowReader).symbols
	return nil
}

// codeLengths reads the code lengths of literals and distances.
func (r *slowReader) codeLengths(c *slowCode, lengths []uint8) error {
	for i := 0; i < len(lengths); {
		r.bits.fill()
		symbol, err := c.decode(&r.bits)
		if err != nil {
			return err
		}
		length, times := uint8(symbol), 1
		if symbol >= 16 {
			if length, times, err = r.repeat(symbol, lengths[:i]); err != nil {
				return err
			}
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
func (r *slowReader) repeat(symbol uint, before []uint8) (length uint8, times int, err error) {
	e := [...]extra{{3, 2}, {3, 3}, {11, 7}}[symbol-16]
	if symbol == 16 {
		if len(before) == 0 {
			return 0, 0, r.bits.corrupt("no code length to repeat")
		}
		length = before[len(before)-1]
	}
	v, err := r.bits.take(e.bits)
	return length, e.base + int(v), err
}
