package inflate

// symbols decodes the symbols of a compressed block.
func (r *Reader) symbols() error {
	for {
		if r.plenty() {
			r.fast()
		}
		if cap(r.out)-len(r.out) < fastRoom || !r.ready() {
			return nil
		}
		r.bits.begin()
		e, err := r.symbol(r.literals)
		switch {
		case err != nil:
			return err
		case e&entryLiteral != 0:
			r.out = append(r.out, byte(e.value()))
		case e&entryEnd != 0:
			return r.endBlock()
		default:
			if err := r.match(e); err != nil {
				return err
			}
		}
	}
}

// plenty reports whether there is enough input and space for the fast loop.
func (r *Reader) plenty() bool {
	return len(r.bits.in)-r.bits.pos >= fastInput && cap(r.out)-len(r.out) >= fastRoom
}

// ready reports whether to decode another symbol before returning output.
// Decoding may have to wait for input, and decoded output should not wait with
// it.
func (r *Reader) ready() bool { return r.read == len(r.out) || r.bits.atHand() >= maxBits }

// symbol consumes the code of a symbol, but not its extra bits. The table
// lookup may use bits beyond the input, which are zero, but the entry counts
// only if the bits of its code are available.
func (r *Reader) symbol(c *code) (entry, error) {
	b := &r.bits
	for {
		b.fill()
		e := c.table[b.acc&(1<<c.root-1)]
		width := e.width()
		if e&entryLink != 0 {
			e = c.table[uint64(e.value())+b.acc>>c.root&(1<<width-1)]
			width = c.root + e.width()
		}
		switch {
		case width > b.n:
			if !b.more() {
				return 0, b.end()
			}
			continue
		case e&entryUnused != 0:
			return 0, b.corrupt("a code without a symbol")
		case e&entryReserved != 0:
			return 0, b.corrupt("reserved length or distance")
		}
		b.drop(width)
		return e, nil
	}
}

// match decodes the rest of a match and copies it, section 3.2.5.
func (r *Reader) match(e entry) error {
	length, err := r.value(e)
	if err != nil {
		return err
	}
	if e, err = r.symbol(r.distances); err != nil {
		return err
	}
	distance, err := r.value(e)
	if err != nil {
		return err
	}
	if distance > len(r.out) {
		return r.bits.corrupt("distance before the start of the output")
	}
	end := len(r.out)
	from := end - distance
	r.out = r.out[:end+length]
	for to := r.out[end:]; len(to) > 0; { // source and destination may overlap
		n := copy(to, r.out[from:end])
		to, end = to[n:], end+n
	}
	return nil
}

// value consumes the extra bits of a length or distance and returns its value.
func (r *Reader) value(e entry) (int, error) {
	v, err := r.bits.take(e.take() - e.width())
	return e.value() + int(v), err
}
