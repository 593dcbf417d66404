package chaos

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A Harm describes the damage to an archive.
type Harm struct {
	Kind string // cut, flip, zero, insert; garbage, padding
	At   int    // offset of the first changed byte
	Len  int
}

func (h Harm) String() string { return fmt.Sprintf("%s of %d at %d", h.Kind, h.Len, h.At) }

// Appended reports whether the archive is unchanged except for appended bytes.
func (h Harm) Appended() bool { return h.Kind == "garbage" || h.Kind == "padding" }

// Damage damages an archive. A third of the damage is near the beginning or end
// of a member, frame, block or chunk.
func Damage(rng *rand.Rand, a *Archive) ([]byte, Harm) {
	for {
		packed, h := damageOnce(rng, a)
		h.At = 0
		for h.At < min(len(packed), len(a.Packed)) && packed[h.At] == a.Packed[h.At] {
			h.At++
		}
		if !bytes.Equal(packed, a.Packed) {
			return packed, h
		}
	}
}

func damageOnce(rng *rand.Rand, a *Archive) ([]byte, Harm) {
	p := bytes.Clone(a.Packed)
	at := place(rng, a)
	switch rng.IntN(10) {
	case 0, 1:
		return p[:max(at, 1)], Harm{Kind: "cut", Len: len(p) - at}
	case 2, 3, 4:
		p[at] ^= 1 << rng.IntN(8)
		return p, Harm{Kind: "flip", Len: 1}
	case 5, 6:
		n := min(1+rng.IntN(1<<(1+rng.IntN(10))), len(p)-at)
		clear(p[at : at+n])
		return p, Harm{Kind: "zero", Len: n}
	case 7, 8:
		junk := noise(rng, 1+rng.IntN(1<<(1+rng.IntN(8))))
		at = max(at, 1)
		return bytes.Join([][]byte{p[:at], junk, p[at:]}, nil), Harm{Kind: "insert", Len: len(junk)}
	}
	if rng.IntN(2) == 0 {
		n := 1 + rng.IntN(5000)
		return append(p, make([]byte, n)...), Harm{Kind: "padding", Len: n}
	}
	junk := noise(rng, 1+rng.IntN(3000))
	if rng.IntN(2) == 0 {
		junk = ArchiveText(rng, len(junk))
	}
	junk[0] |= 1 // else it may be padding
	return append(p, junk...), Harm{Kind: "garbage", Len: len(junk)}
}

// place returns an offset in an archive.
func place(rng *rand.Rand, a *Archive) int {
	at := rng.IntN(a.Data)
	if rng.IntN(3) > 0 {
		return at
	}
	joints := append([]int{0}, a.Ends...)
	for _, u := range a.Units {
		joints = append(joints, u.Packed)
	}
	at = joints[rng.IntN(len(joints))] - 24 + rng.IntN(48)
	return max(0, min(at, a.Data-1))
}

func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// Wanted returns the number of bytes of the text of a that must be output after
// h, as complete lines. These are the bytes that the reference returns before
// the damage, except for units that are held back because of their checksum. If
// ref is nil, they are the complete units before the damage.
func (a *Archive) Wanted(h Harm, ref *Reference) int {
	n := 0
	if ref != nil {
		for n < min(len(ref.Text), len(a.Text)) && ref.Text[n] == a.Text[n] {
			n++
		}
	}
	if a.Units != nil && !h.Appended() {
		held := 0
		for _, u := range a.Units {
			if u.Packed <= h.At {
				held = u.Text
			}
		}
		if ref == nil {
			n = held
		}
		n = min(n, held)
	}
	return bytes.LastIndexByte(a.Text[:n], '\n') + 1
}

// An Outcome is the result of the program under test for a damaged archive.
type Outcome struct {
	Lines  []byte // the output
	Damage bool   // the program reports damage
}

// Judge returns what is wrong with the outcome for packed, which is the archive
// after h, or an empty string if it is right. text is the program's output for
// the intact archive. ref is nil if there is no reference.
func (a *Archive) Judge(h Harm, packed []byte, ref *Reference, got Outcome, text []byte) string {
	if !a.Sums && ref != nil && !ref.Refused && !h.Appended() {
		return "" // the damage cannot be detected
	}
	wanted := bytes.Count(a.Text[:a.Wanted(h, ref)], []byte{'\n'})
	if same := sameLines(got.Lines, text); same < wanted {
		return fmt.Sprintf("%d lines before the damage in the output, want %d", same, wanted)
	}
	framed := a.Format == "snappy" || a.Format == "s2" // these formats have no end: all following bytes belong to them
	whole := bytes.Equal(got.Lines, text)
	refused := ref != nil && ref.Refused
	switch {
	case h.Appended() && !framed && !whole:
		return "lines before the appended bytes are missing or wrong"
	case h.Kind == "padding" && !framed && got.Damage:
		return "zero padding is reported as damage"
	case h.Kind == "garbage" && !got.Damage:
		return "appended bytes are not reported as damage"
	case h.Kind == "padding" && !framed:
		return ""
	case refused && !got.Damage:
		return "the reference rejects the file, but no damage is reported"
	case whole || got.Damage:
		return ""
	case a.cutAtEnd(packed):
		return "" // the truncation cannot be detected
	}
	return "lines are missing or wrong, but no damage is reported"
}

// sameLines returns the number of complete lines at the beginning of a and b
// that are equal.
func sameLines(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return bytes.Count(a[:n], []byte{'\n'})
}

// cutAtEnd reports whether the archive was truncated at the end of a member.
func (a *Archive) cutAtEnd(packed []byte) bool {
	if !bytes.HasPrefix(a.Packed, packed) {
		return false
	}
	return slices.Contains(a.Ends, len(packed))
}
