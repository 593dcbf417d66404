package purell

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/internal/punycode"
)

// hostBuffers holds the scratch of toASCII.
type hostBuffers struct {
	runes, nfc, label []rune
	out               []byte
}

// toASCII returns the host in lower case, width-folded and in Form C, with each
// label in Punycode. That is how purell prepares the host of a string. The
// result is valid until the next call.
func (h *hostBuffers) toASCII(host []byte) ([]byte, bool) {
	h.runes = h.runes[:0]
	for i := 0; i < len(host); {
		r, size := utf8.DecodeRune(host[i:]) // invalid bytes become U+FFFD, by strings.ToLower
		h.runes = append(h.runes, foldWidth(unicode.ToLower(r)))
		i += size
	}
	h.nfc, _ = idna.AppendNFC(h.nfc[:0], h.runes)
	h.out = h.out[:0]
	for rest := h.nfc; ; {
		end := 0
		for end < len(rest) && rest[end] != '.' {
			end++
		}
		var ok bool
		if h.out, ok = h.appendLabel(h.out, rest[:end]); !ok {
			return nil, false
		}
		if end == len(rest) {
			return h.out, true
		}
		h.out, rest = append(h.out, '.'), rest[end+1:]
	}
}

// appendLabel appends a label as the profile Punycode of golang.org/x/net/idna
// does: without any check, and without a mapping. A label in Punycode is decoded
// and, unless it is ASCII, encoded again.
func (h *hostBuffers) appendLabel(dst []byte, label []rune) ([]byte, bool) {
	if len(label) >= 4 && string(label[:4]) == "xn--" {
		var ok bool
		if h.label, ok = punycode.AppendDecodedGo(h.label[:0], label[4:]); !ok {
			return dst, false
		}
		label = h.label
	}
	if !ascii.Only(label) {
		return punycode.Append(append(dst, "xn--"...), label, punycode.MaxSignedDelta)
	}
	for _, r := range label {
		dst = append(dst, byte(r))
	}
	return dst, true
}

// removeDefaultPort removes ":80" for http and ":443" for https.
func (u *parts) removeDefaultPort() {
	switch string(u.scheme) {
	case "http":
		u.host = bytes.TrimSuffix(u.host, []byte(":80"))
	case "https":
		u.host = bytes.TrimSuffix(u.host, []byte(":443"))
	}
}

func (u *parts) removeWWW() { u.host = bytes.TrimPrefix(u.host, []byte("www.")) }

func (u *parts) forceHTTP() {
	if string(u.scheme) == "https" {
		u.scheme = u.scheme[:4]
	}
}

// removeHostDots removes dots at both ends of the host, and reduces several
// dots in a row to one dot.
func (u *parts) removeHostDots() {
	name, port := u.splitPort()
	name = bytes.Trim(name, ".")
	kept := u.host[:0]
	kept = appendOneDot(kept, name)
	u.host = appendOneDot(kept, port)
}

// appendOneDot appends text without repeated dots. dst may be a prefix of the
// array that contains text.
func appendOneDot(dst, text []byte) []byte {
	for _, c := range text {
		if c != '.' || len(dst) == 0 || dst[len(dst)-1] != '.' {
			dst = append(dst, c)
		}
	}
	return dst
}

// splitPort splits a trailing ":digits" off the host, unless the rest would be
// empty.
func (u *parts) splitPort() (name, port []byte) {
	i := len(u.host)
	for i > 0 && ascii.IsDigit(u.host[i-1]) {
		i--
	}
	if i < 2 || i == len(u.host) || u.host[i-1] != ':' {
		return u.host, nil
	}
	return u.host[:i-1], u.host[i-1:]
}

func (u *parts) removeEmptyPort() { u.host = bytes.TrimRight(u.host, ":") }
