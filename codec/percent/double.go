package percent

// A Doubles finds double escapes, such as %2541, from left to right. It
// remembers the run of double escapes that it checked last, so that it checks
// each run only once. The zero value is ready for use with one text.
// Not covered by the stability page.
type Doubles struct {
	end   int   // end of the run that checkRun checked last
	valid uint8 // WouldBeUTF8 if that run is valid UTF-8
}

// Defect describes the double escape whose %25 is at src[i]. ok is false if two
// hexadecimal digits do not follow. src is a component, or the text up to the end of
// one. i must be greater than in the calls before. Defect does not retain src.
func (ds *Doubles) Defect(src []byte, i int) (d Defect, ok bool) {
	depth, end := doubleEscape(src, i)
	if depth == 0 {
		return Defect{}, false
	}
	d = Defect{At: uint32(i), Kind: kindDoubleEncoded, Depth: uint8(min(depth, 255))}
	b := tripletByte(src, end-3)
	if b < 0x80 {
		d.Bits = WouldBeUTF8
	} else {
		if i >= ds.end {
			ds.checkRun(src, i)
		}
		d.Bits = ds.valid
	}
	if classes[b]&isDelim != 0 {
		d.Bits |= WouldDelimit
	}
	return d, true
}

// checkRun checks the run of adjacent double escapes of bytes from 80 to FF
// that starts at i.
func (ds *Doubles) checkRun(src []byte, i int) {
	var v utf8Validator
	for i < len(src) && src[i] == '%' {
		depth, end := doubleEscape(src, i)
		if depth == 0 {
			break
		}
		b := tripletByte(src, end-3)
		if b < 0x80 {
			break
		}
		v.push(b)
		i = end
	}
	ds.end, ds.valid = i, 0
	if v.valid() {
		ds.valid = WouldBeUTF8
	}
}

// doubleEscape returns how many decodings of the %25 at src[i] still leave an
// escape, and the end of the whole escape: 2 and 8 for %252541. The depth is 0
// if there is no double escape.
func doubleEscape(src []byte, i int) (depth, end int) {
	for end = i + 3; end+2 <= len(src) && src[end-2] == '2' && src[end-1] == '5' && IsHex(src[end]) && IsHex(src[end+1]); end += 2 {
		depth++
	}
	return depth, end
}
