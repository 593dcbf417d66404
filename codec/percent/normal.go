package percent

import (
	"bytes"
	"fmt"
	"slices"
)

// Malformed selects what happens to a malformed '%', which does not start an
// escape.
type Malformed uint8

// Policies for a malformed '%'.
const (
	MalformedKeep   Malformed = iota // keep the '%', as the WHATWG URL Standard does
	MalformedEncode                  // replace the '%' by %25
	MalformedReject                  // reject the component: it has no normal form
)

var malformedNames = []string{"keep", "encode", "reject"}

// String returns the name of the policy, such as "encode", or "unknown".
func (m Malformed) String() string {
	if int(m) < len(malformedNames) {
		return malformedNames[m]
	}
	return "unknown"
}

// MarshalText implements encoding.TextMarshaler: the name. It returns an error
// if the value is undefined.
func (m Malformed) MarshalText() ([]byte, error) {
	if int(m) >= len(malformedNames) {
		return nil, fmt.Errorf("percent: undefined policy %d for a malformed '%%'", uint8(m))
	}
	return []byte(m.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler: keep, encode or reject.
func (m *Malformed) UnmarshalText(text []byte) error {
	i := slices.Index(malformedNames, string(text))
	if i < 0 {
		return fmt.Errorf("percent: unknown policy %q for a malformed '%%'", text)
	}
	*m = Malformed(i)
	return nil
}

// EscapeRules selects what [AppendNormal] does. The zero EscapeRules change nothing.
// Not covered by the stability page.
type EscapeRules struct {
	Add        ByteSet   // escape raw bytes in this set; '%' is never escaped by it
	Malformed  Malformed // what happens to a malformed '%'
	Upper      bool      // convert the digits of escapes to upper case (RFC 3986 §6.2.2.1)
	Unreserved bool      // decode escapes of unreserved bytes (RFC 3986 §6.2.2.2); Add then does not escape such bytes
}

// Applied is the set of [EscapeRules] that changed something. The zero Applied is
// empty. Not covered by the stability page.
type Applied uint8

// Rules that AppendApplied reports. Not covered by the stability page.
const (
	AppliedMalformed  Applied = 1 << iota // a malformed '%' became %25
	AppliedAdd                            // a raw byte became an escape
	AppliedUpper                          // digits of an escape were in lower case
	AppliedUnreserved                     // an escape was decoded; if its digits were in lower case and Upper is set, AppliedUpper too
)

// AppendNormal appends the component src, normalized by r, to dst. It returns
// the extended slice and -1. If r.Malformed is [MalformedReject] and src has a
// malformed '%', it returns dst unchanged and the offset of the first malformed '%'.
//
// AppendNormal detects escapes in src only, never in its output, and never decodes a
// reserved byte (RFC 3986 §2.2). The result is therefore equivalent to src, and
// AppendNormal is idempotent. This requires one exception: a malformed '%' that is kept
// must not be followed by two hexadecimal digits in the output. With [MalformedKeep]
// the escape of a hexadecimal digit is therefore kept directly after a malformed '%',
// even if one hexadecimal digit is in between: %4%31 is kept, because %41 would be
// decoded to 'A' next time.
//
// AppendNormal does not modify or retain src, which must not overlap
// dst[len(dst):cap(dst)]. Not covered by the stability page.
func AppendNormal(dst, src []byte, r EscapeRules) (out []byte, malformed int) {
	out, _, malformed = AppendApplied(dst, src, r)
	return out, malformed
}

// AppendApplied is like [AppendNormal], and also returns the rules that changed
// something. Not covered by the stability page.
func AppendApplied(dst, src []byte, r EscapeRules) (out []byte, applied Applied, malformed int) {
	mask := uint64(1)<<r.Add&^1 | isPercent
	i := indexClass(src, mask)
	if i == len(src) {
		return append(dst, src...), 0, -1
	}
	n := normalizer{dst: dst, src: src, EscapeRules: r, guard: -1}
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

// indexClass returns the offset of the first byte of src in a class of mask, or
// len(src).
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

// normalizer copies src to dst in runs. src[from:i] is the current run: bytes
// that do not change and have not been copied yet.
type normalizer struct {
	dst, src []byte
	from     int
	guard    int // length of the output directly after the last kept malformed '%', or -1
	applied  Applied
	EscapeRules
}

// flush copies the run that ends at i. The next run starts at next.
func (n *normalizer) flush(i, next int) {
	n.dst = append(n.dst, n.src[n.from:i]...)
	n.from = next
}

// add escapes the raw byte at i and returns the offset of the next byte, like
// triplet and encodeOrGuard. It keeps an unreserved byte in the set ('~' in the
// sets of RFC 1738 and forms), because Unreserved would decode its escape.
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

// guarded reports whether b, decoded from the escape at i, would form an escape
// with a kept malformed '%', or the start of one.
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

// last returns the last byte of the output before src[i]. The output must not
// be empty.
func (n *normalizer) last(i int) byte {
	if i > n.from {
		return n.src[i-1]
	}
	return n.dst[len(n.dst)-1]
}
