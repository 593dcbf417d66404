package codec

import (
	"encoding/base32"
	"encoding/binary"
)

// A KeyForm selects how a Key is written. The zero KeyForm is KeyHex.
type KeyForm uint8

// The forms.
const (
	// KeyHex is 32 lower-case hex digits. The texts sort like the keys.
	KeyHex KeyForm = iota
	// KeyBase32 is 26 of the characters A to Z and 2 to 7: base32 without
	// padding (RFC 4648 §6). The texts do not sort like the keys.
	KeyBase32
	// KeyRaw is 16 bytes, big-endian. They sort like the keys.
	KeyRaw
)

var keyFormNames = []string{"hex", "base32", "raw"}

// String returns the name used in output, such as "base32", or "unknown".
func (f KeyForm) String() string { return nameOf(f, keyFormNames) }

// A KeyError reports that a text is not a key in the given form.
type KeyError struct{ Form KeyForm }

// Error says how many digits or bytes the form has.
func (e *KeyError) Error() string {
	switch e.Form {
	case KeyBase32:
		return "invalid key: must be 26 base32 digits"
	case KeyRaw:
		return "invalid key: must be 16 bytes"
	}
	return "invalid key: must be 32 hex digits"
}

var keyBase32 = base32.StdEncoding.WithPadding(base32.NoPadding)

// Append appends k to dst in the form f.
func (f KeyForm) Append(dst []byte, k Key) []byte {
	switch f {
	case KeyBase32:
		var b [16]byte
		return keyBase32.AppendEncode(dst, k.put(&b))
	case KeyRaw:
		var b [16]byte
		return append(dst, k.put(&b)...)
	}
	return k.AppendTo(dst)
}

// Parse parses the text that Append appends; hex digits and base32 letters may
// be in upper or lower case. The error is a *KeyError.
func (f KeyForm) Parse(text []byte) (Key, error) {
	var b [16]byte
	switch f {
	case KeyBase32:
		var upper [26]byte
		if len(text) != len(upper) {
			return Key{}, &KeyError{f}
		}
		for i, c := range text {
			upper[i] = c - ('a'-'A')*byte(b2i('a' <= c && c <= 'z'))
		}
		if _, err := keyBase32.Decode(b[:], upper[:]); err != nil || keyTail(upper[25]) {
			return Key{}, &KeyError{f}
		}
	case KeyRaw:
		if copy(b[:], text) != len(b) || len(text) != len(b) {
			return Key{}, &KeyError{f}
		}
	default:
		return ParseKey(text)
	}
	return KeyFrom(b), nil
}

// keyTail reports whether the last base32 digit of a key has bits after the
// 128th, in which case Append cannot have written it: only A, E, I, M, Q, U, Y
// and 4 end in two zero bits.
func keyTail(digit byte) bool {
	switch digit {
	case 'A', 'E', 'I', 'M', 'Q', 'U', 'Y', '4':
		return false
	}
	return true
}

// put writes the bytes of k to b, big-endian, and returns them.
func (k Key) put(b *[16]byte) []byte {
	binary.BigEndian.PutUint64(b[:8], k.hi)
	binary.BigEndian.PutUint64(b[8:], k.lo)
	return b[:]
}
