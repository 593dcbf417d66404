package inflate

import "io"

// This file and slow_*_test.go contain a simple, readable decoder, which
// decodes symbol by symbol and bit by bit. Reader is compared with it.

// A slowReader decodes a stream of deflate data. It takes about 75 KiB of
// memory and reads up to 4 KiB of its source ahead.
type slowReader struct {
	bits slowBits

	out  []byte // the last Window bytes or more
	read int    // the part of out that Read has delivered
	err  error

	// step decodes a part of the stream: a header, or data until the block or
	// the space in out ends.
	step   func(*slowReader) error
	final  bool // the current block is the last
	stored int  // remaining bytes of a stored block

	literals, distances slowCode
}

// newSlowReader returns a Reader of the stream in src. The stream, or a block
// of it, begins at the given bit of the first byte, from 0, the least
// significant, to 7. The window is the output before that block; the Reader
// copies its last 32 KiB.
func newSlowReader(src io.Reader, window []byte, bit uint8) *slowReader {
	r := &slowReader{bits: slowBits{src: src}, step: (*slowReader).header}
	r.out = make([]byte, 0, 2*Window+maxMatch)
	r.out = append(r.out, window[max(0, len(window)-Window):]...)
	r.read = len(r.out)
	_, r.err = r.bits.take(uint(bit))
	return r
}

// Offset returns the number of the first bit in src that was not decoded. After
// io.EOF that is the end of the stream, otherwise the start of the incomplete
// or corrupt symbol or header. It is valid once Read has returned an error.
func (r *slowReader) Offset() int64 { return r.bits.start }

// Read returns decoded bytes. After the last byte it returns how the stream
// ended: see the package comment. It returns an error of the source other than
// io.EOF unchanged.
func (r *slowReader) Read(p []byte) (int, error) {
	for r.read == len(r.out) && len(p) > 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.slide()
		r.err = r.step(r)
	}
	n := copy(p, r.out[r.read:])
	r.read += n
	return n, nil
}

// slide makes space in out after Read has delivered all of it.
func (r *slowReader) slide() {
	if len(r.out) > Window {
		r.out = r.out[:copy(r.out, r.out[len(r.out)-Window:])]
		r.read = len(r.out)
	}
}

// header reads the first bits of a block, section 3.2.3.
func (r *slowReader) header() error {
	r.bits.begin()
	if r.final {
		return io.EOF
	}
	v, err := r.bits.take(3)
	if err != nil {
		return err
	}
	r.final = v&1 != 0
	switch v >> 1 {
	case 0:
		return r.storedHeader()
	case 1:
		return r.fixedCodes()
	case 2:
		return r.dynamicCodes()
	}
	return r.bits.corrupt("reserved block type")
}

// storedHeader reads the lengths of a stored block, section 3.2.4.
func (r *slowReader) storedHeader() error {
	r.bits.align()
	v, err := r.bits.take(32)
	if err != nil {
		return err
	}
	if v&0xffff != ^v>>16&0xffff {
		return r.bits.corrupt("length of a stored block does not match its complement")
	}
	r.stored, r.step = int(v&0xffff), (*slowReader).storedData
	return nil
}

// storedData reads bytes of a stored block.
func (r *slowReader) storedData() error {
	if r.stored == 0 {
		r.step = (*slowReader).header
		return nil
	}
	r.bits.begin()
	room := r.out[len(r.out):min(cap(r.out), len(r.out)+r.stored)]
	n, err := r.bits.bytes(room)
	r.out = r.out[:len(r.out)+n]
	r.stored -= n
	return err
}

// symbols decodes the symbols of a compressed block.
func (r *slowReader) symbols() error {
	for len(r.out) <= cap(r.out)-maxMatch {
		r.bits.begin()
		symbol, err := r.literals.decode(&r.bits)
		switch {
		case err != nil:
			return err
		case symbol < endOfBlock:
			r.out = append(r.out, byte(symbol))
		case symbol == endOfBlock:
			r.step = (*slowReader).header
			return nil
		default:
			if err := r.match(symbol); err != nil {
				return err
			}
		}
	}
	return nil
}

// match decodes the rest of a match and copies it, section 3.2.5.
func (r *slowReader) match(symbol uint) error {
	length, err := r.value(lengthValues[:], symbol-endOfBlock-1)
	if err != nil {
		return err
	}
	symbol, err = r.distances.decode(&r.bits)
	if err != nil {
		return err
	}
	distance, err := r.value(distanceValues[:], symbol)
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
func (r *slowReader) value(values []extra, i uint) (int, error) {
	if i >= uint(len(values)) {
		return 0, r.bits.corrupt("reserved length or distance")
	}
	v, err := r.bits.take(values[i].bits)
	return values[i].base + int(v), err
}
