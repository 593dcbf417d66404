package percent

import "bytes"

// Malformed says what becomes of a stray '%', one that begins no escape.
type Malformed uint8

// The policies for stray percent signs. The zero value keeps them.
const (
	MalformedKeep   Malformed = iota // the '%' stays, as the WHATWG URL Standard has it
	MalformedEncode                  // the '%' becomes %25
	MalformedReject                  // the component has no normal form
)

// Rules say what [AppendNormal] does. The zero Rules change nothing.
type Rules struct {
	Add        Set       // raw bytes in this set become escapes; never '%', whatever the set says
	Malformed  Malformed // what becomes of a stray '%'
	Upper      bool      // the hex digits of escapes become upper-case (RFC 3986 §6.2.2.1)
	Unreserved bool      // escapes of unreserved bytes are decoded (RFC 3986 §6.2.2.2), so Add does not touch such bytes
}

// Applied is the set of the [Rules] that have changed something. The zero Applied is empty.
type Applied uint8

// The rules.
const (
	AppliedMalformed  Applied = 1 << iota // a stray '%' became %25
	AppliedAdd                            // a raw byte became an escape
	AppliedUpper                          // the digits of an escape were lower-case
	AppliedUnreserved                     // an escape was decoded; AppliedUpper too if its digits were lower-case and Upper is set
)

// AppendNormal appends the component src to dst, normalized by r, and returns the extended slice and -1.
// If r.Malformed is [MalformedReject] and src holds a stray '%', it returns dst as given and the offset of the first one.
//
// Escapes are told from stray percent signs on the bytes of src, never on output, and no reserved byte is ever decoded
// (RFC 3986 §2.2), so the result means what src means, and AppendNormal of the result is the result again.
// That needs one exception: a kept stray '%' must not come to stand before two hex digits, so with [MalformedKeep] the escape of
// a hex digit stays where the output ends in a kept stray '%', or in such a '%' and one hex digit (%4%31 stays, as %41 would
// be read as 'A' next time).
//
// src is not changed or kept, and must not overlap dst[len(dst):cap(dst)].
func AppendNormal(dst, src []byte, r Rules) (out []byte, malformed int) {
	out, _, malformed = AppendApplied(dst, src, r)
	return out, malformed
}

// AppendApplied is [AppendNormal] and returns also which of the rules have changed something.
func AppendApplied(dst, src []byte, r Rules) (out []byte, applied Applied, malformed int) {
	mask := uint64(1)<<r.Add&^1 | isPercent
	i := indexClass(src, mask)
	if i == len(src) {
		return append(dst, src...), 0, -1
	}
	n := normalizer{dst: dst, src: src, Rules: r, guard: -1}
	for i < len(src) {
		switch {
		case src[i] != '%' && classes[src[i]]&mask == 0:
			i += indexClass(src[i:], mask)
		case src[i] != '%':
			i = n.add(i)
		case isTriplet(src, i):
			i = n.triplet(i)
		case r.Malformed == MalformedReject:
			return dst, 0, i
		default:
			i = n.encodeOrGuard(i)
		}
	}
	return append(n.dst, src[n.from:]...), n.applied, -1
}

// indexClass returns the offset of the first byte of src in a class of mask, or len(src).
func indexClass(src []byte, mask uint64) int {
	if mask == isPercent {
		if i := bytes.IndexByte(src, '%'); i >= 0 {
			return i
		}
		return len(src)
	}
	for i, c := range src {
		if classes[c]&mask != 0 {
			return i
		}
	}
	return len(src)
}

// A normalizer copies src to dst in runs: src[from:i] is the run of bytes that stay as they are and are not yet copied.
type normalizer struct {
	dst, src []byte
	from     int
	guard    int // length of the output just after the last kept stray '%', or -1
	applied  Applied
	Rules
}

// flush copies the run that ends at i and lets the next one begin at next.
func (n *normalizer) flush(i, next int) {
	n.dst = append(n.dst, n.src[n.from:i]...)
	n.from = next
}

// add escapes the raw byte at i and returns the offset of the next byte, as triplet and stray do. An unreserved byte in the
// set ('~' in those of RFC 1738 and forms) would be decoded right after, so it stays.
func (n *normalizer) add(i int) int {
	if n.Unreserved && IsUnreserved(n.src[i]) {
		return i + 1
	}
	n.applied |= AppliedAdd
	n.flush(i, i+1)
	n.dst = AppendEscape(n.dst, n.src[i])
	return i + 1
}

func (n *normalizer) encodeOrGuard(i int) int {
	if n.Malformed == MalformedEncode {
		n.applied |= AppliedMalformed
		n.flush(i, i+1)
		n.dst = append(n.dst, "%25"...)
		return i + 1
	}
	n.guard = len(n.dst) + i + 1 - n.from
	return i + 1
}

func (n *normalizer) triplet(i int) int {
	b := tripletByte(n.src, i)
	lower := n.Upper && (classes[n.src[i+1]]|classes[n.src[i+2]])&isLowerHex != 0
	if lower {
		n.applied |= AppliedUpper
	}
	switch {
	case n.Unreserved && IsUnreserved(b) && !n.guarded(i, b):
		n.applied |= AppliedUnreserved
		n.flush(i, i+3)
		n.dst = append(n.dst, b)
	case lower:
		n.flush(i, i+3)
		n.dst = AppendEscape(n.dst, b)
	}
	return i + 3
}

// guarded reports whether b, decoded from the escape at i, would complete or begin a new escape with a kept stray '%'.
func (n *normalizer) guarded(i int, b byte) bool {
	if n.guard < 0 || !IsHex(b) {
		return false
	}
	switch len(n.dst) + i - n.from {
	case n.guard:
		return true
	case n.guard + 1:
		return IsHex(n.last(i))
	}
	return false
}

// last returns the last byte of the output before src[i], which is not empty.
func (n *normalizer) last(i int) byte {
	if i > n.from {
		return n.src[i-1]
	}
	return n.dst[len(n.dst)-1]
}
