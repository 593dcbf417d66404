package inflate

const (
	endOfBlock   = 256
	maxMatch     = 258
	maxLiterals  = 286 // symbols of a dynamic code, section 3.2.7
	maxDistances = 30
)

// An extra is the meaning of a symbol with extra bits: base plus their value.
type extra struct {
	base int
	bits uint
}

// lengthValues are the lengths from symbol 257 on, section 3.2.5.
var lengthValues = func() (t [maxLiterals - endOfBlock - 1]extra) {
	grow(t[:], 3, 4)
	t[len(t)-1] = extra{maxMatch, 0} // breaks the pattern
	return t
}()

// distanceValues are the distances by symbol, section 3.2.5.
var distanceValues = func() (t [maxDistances]extra) {
	grow(t[:], 1, 2)
	return t
}()

// grow fills a table in which, after the first group, each group of so many
// symbols has one extra bit more than the group before.
func grow(t []extra, base int, group int) {
	for i := range t {
		t[i] = extra{base, uint(max(0, i/group-1))}
		base += 1 << t[i].bits
	}
}

// fixedCodes sets the codes of section 3.2.6.
func (r *Reader) fixedCodes() error {
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
	r.step = (*Reader).symbols
	return nil
}

// lengthOrder is the order in which a block has the lengths of the codes for
// code lengths, section 3.2.7.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamicCodes takes the codes of a block, section 3.2.7.
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
	r.step = (*Reader).symbols
	return nil
}

// codeLengths takes the lengths of the codes of literals and distances.
func (r *Reader) codeLengths(c *code, lengths []uint8) error {
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

// repeat takes the rest of a symbol that repeats a length after those before.
func (r *Reader) repeat(symbol uint, before []uint8) (length uint8, times int, err error) {
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
