// Package punycode encodes and decodes the labels of internationalized domain
// names: RFC 3492. It is shared by the packages that differ in everything else
// about such names.
package punycode

import (
	"math"
	"slices"
	"unicode/utf8"
)

// The parameters of Punycode: RFC 3492, section 5.
const (
	base        = 36
	tMin        = 1
	tMax        = 26
	skew        = 38
	damp        = 700
	initialBias = 72
	initialN    = 0x80
)

// shortLabel is the largest number of code points for which the loops of RFC
// 3492 are used. Their time is quadratic in the length. For longer labels a
// tree of counts bounds the time by O(n log n), so that a label of 64 KiB takes
// milliseconds.
const shortLabel = 256

// adapt is the bias adaptation function of RFC 3492, section 6.1.
func adapt(delta, points uint64, first bool) uint64 {
	if first {
		delta /= damp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := uint64(0)
	for ; delta > (base-tMin)*tMax/2; k += base {
		delta /= base - tMin
	}
	return k + (base-tMin+1)*delta/(delta+skew)
}

// threshold is t(k) of RFC 3492, section 6.
func threshold(k, bias uint64) uint64 {
	switch {
	case k <= bias:
		return tMin
	case k >= bias+tMax:
		return tMax
	}
	return k - bias
}

// Limits of the deltas in the sample code of the RFC, and in implementations
// that compute with signed numbers.
const (
	MaxDelta       = math.MaxUint32
	MaxSignedDelta = math.MaxInt32
)

// An encoder holds the state of RFC 3492, section 6.3.
type encoder struct {
	limit          uint64 // largest delta
	delta, bias    uint64
	basic, handled uint64
	overflow       bool
}

// emit appends the pending delta as a variable-length integer.
func (e *encoder) emit(dst []byte) []byte {
	if e.delta > e.limit {
		e.overflow = true
	}
	q := e.delta
	for k := uint64(base); ; k += base {
		t := threshold(k, e.bias)
		if q < t {
			break
		}
		dst = append(dst, digitOf(t+(q-t)%(base-t)))
		q = (q - t) / (base - t)
	}
	dst = append(dst, digitOf(q))
	e.bias = adapt(e.delta, e.handled+1, e.handled == e.basic)
	e.delta = 0
	e.handled++
	return dst
}

func digitOf(d uint64) byte {
	return "abcdefghijklmnopqrstuvwxyz0123456789"[d]
}

// Append appends the Punycode of label, without a prefix, and reports whether no
// delta exceeds limit. If one does, the appended bytes are meaningless. The time
// is O(n log n) in the length of label.
func Append(dst []byte, label []rune, limit uint64) ([]byte, bool) {
	start := len(dst)
	for _, r := range label {
		if r < initialN {
			dst = append(dst, byte(r))
		}
	}
	basic := uint64(len(dst) - start)
	if basic > 0 {
		dst = append(dst, '-')
	}
	e := encoder{bias: initialBias, limit: limit, basic: basic, handled: basic}
	if len(label) <= shortLabel {
		dst = e.short(dst, label)
	} else {
		dst = e.long(dst, label)
	}
	return dst, !e.overflow
}

// short is the main loop of RFC 3492, section 6.3.
func (e *encoder) short(dst []byte, label []rune) []byte {
	for n := rune(initialN); e.handled < uint64(len(label)); n++ {
		m := rune(math.MaxInt32)
		for _, r := range label {
			if r >= n && r < m {
				m = r
			}
		}
		e.delta += uint64(m-n) * (e.handled + 1)
		n = m
		for _, r := range label {
			if r < n {
				e.delta++
			} else if r == n {
				dst = e.emit(dst)
			}
		}
		e.delta++
	}
	return dst
}

// long produces the same deltas as short, in the same order, but uses a tree
// that counts the handled code points of an interval.
func (e *encoder) long(dst []byte, label []rune) []byte {
	todo := make([]uint64, 0, len(label)) // code points with their positions
	done := make(countTree, len(label)+1)
	for i, r := range label {
		if r < initialN {
			done.add(i, 1)
		} else {
			todo = append(todo, uint64(r)<<32|uint64(i))
		}
	}
	slices.Sort(todo)
	// passed is the number of handled code points up to and including the code
	// point handled last.
	n, passed := rune(initialN), uint64(0)
	for _, p := range todo {
		r, at := rune(p>>32), int(uint32(p))
		before := uint64(done.sum(at))
		// For a larger code point, the delta counts the rest of the label, a
		// whole label for each value between n and r, and then starts at the
		// beginning of the label.
		if r > n {
			e.delta += e.handled - passed + 1 + uint64(r-n-1)*(e.handled+1)
			n, passed = r, 0
		}
		e.delta += before - passed
		dst = e.emit(dst)
		done.add(at, 1)
		passed = before + 1
	}
	return dst
}

// AppendDecoded decodes src, Punycode in lower case, and appends the code
// points: RFC 3492, section 6.2. It returns false for invalid digits, overflow,
// and code points that are not scalar values. It does not check for disallowed
// code points.
func AppendDecoded(dst, src []rune) ([]rune, bool) {
	return appendDecoded(dst, src, decoder{limit: MaxDelta, maxLength: math.MaxInt})
}

// AppendDecodedGo decodes as golang.org/x/net/idna v0.17.0 does. It differs from
// [AppendDecoded] in three ways:
//
//   - The limit of numbers is MaxSignedDelta.
//   - A result with an inserted code point has at most 1,024 code points.
//   - A surrogate is decoded as U+FFFD and is not an error.
func AppendDecodedGo(dst, src []rune) ([]rune, bool) {
	return appendDecoded(dst, src, decoder{limit: MaxSignedDelta, maxLength: 1024, surrogates: true})
}

func appendDecoded(dst, src []rune, d decoder) ([]rune, bool) {
	basic := 0
	for i, r := range src {
		if r == '-' {
			basic = i
		}
	}
	dst = append(dst, src[:basic]...)
	d.bias, d.n, d.length = initialBias, initialN, uint64(basic)
	if basic > 0 {
		src = src[basic+1:]
	}
	if len(src)+basic <= shortLabel {
		return d.short(dst, src, len(dst)-basic)
	}
	return d.long(dst, src, len(dst)-basic)
}

// A decoder holds the state of RFC 3492, section 6.2.
type decoder struct {
	limit      uint64 // largest number
	maxLength  uint64
	surrogates bool // surrogates become U+FFFD and are not errors
	n, i, bias uint64
	length     uint64 // length of the output
	read       int    // digits read
}

// next decodes the next variable-length integer of src, and returns the code
// point and the position to insert it at.
func (d *decoder) next(src []rune) (r rune, at uint64, ok bool) {
	old, w, first := d.i, uint64(1), d.read == 0
	for k := uint64(base); ; k += base {
		if d.read == len(src) {
			return 0, 0, false
		}
		digit, ok := valueOf(src[d.read])
		d.read++
		if d.i += digit * w; !ok || d.i > d.limit {
			return 0, 0, false
		}
		t := threshold(k, d.bias)
		if digit < t {
			break
		}
		if w *= base - t; w > d.limit {
			return 0, 0, false
		}
	}
	d.length++
	d.bias = adapt(d.i-old, d.length, first)
	d.n += d.i / d.length
	at = d.i % d.length
	d.i = at + 1
	surrogate := d.n >= 0xD800 && d.n < 0xE000
	switch {
	case d.n > utf8.MaxRune || d.length > d.maxLength || surrogate && !d.surrogates:
		return 0, 0, false
	case surrogate:
		return utf8.RuneError, at, true
	}
	return rune(d.n), at, true
}

// valueOf returns the value of a digit in lower case.
func valueOf(r rune) (uint64, bool) {
	switch {
	case 'a' <= r && r <= 'z':
		return uint64(r - 'a'), true
	case '0' <= r && r <= '9':
		return uint64(r-'0') + 26, true
	}
	return 0, false
}

// short inserts each code point as soon as it is decoded.
func (d *decoder) short(dst, src []rune, start int) ([]rune, bool) {
	for d.read < len(src) {
		r, at, ok := d.next(src)
		if !ok {
			return dst[:start], false
		}
		dst = slices.Insert(dst, start+int(at), r)
	}
	return dst, true
}

// long decodes all insertions first, then places them in reverse. The last
// insertion is at its position in the result; the position of each earlier
// insertion is counted among the free positions. The remaining positions take the
// basic code points, in order.
func (d *decoder) long(dst, src []rune, start int) ([]rune, bool) {
	type insertion struct {
		r  rune
		at int32
	}
	basic := slices.Clone(dst[start:])
	todo := make([]insertion, 0, len(src))
	for d.read < len(src) {
		r, at, ok := d.next(src)
		if !ok {
			return dst[:start], false
		}
		todo = append(todo, insertion{r, int32(at)})
	}
	total := len(basic) + len(todo)
	dst = slices.Grow(dst[:start], total)[:start+total]
	out := dst[start:]
	clear(out)
	free := make(countTree, total+1)
	free.fill()
	for _, in := range slices.Backward(todo) {
		at := free.find(uint32(in.at))
		out[at] = in.r
		free.add(at, ^uint32(0))
	}
	for i := range out {
		if out[i] == 0 { // an ASCII code point, so not an insertion
			out[i], basic = basic[0], basic[1:]
		}
	}
	return dst, true
}
