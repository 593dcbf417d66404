package crawlercommons

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/idna2003"
)

// hostBuffers holds the scratch of the host.
type hostBuffers struct {
	decoded []byte
	runes   []rune
	out     []byte
}

// normalize is normalizeHostName: it decodes escapes, and '+' as a space;
// converts the host to lower case and to ASCII; and removes a dot at the end.
// It returns false where Java throws an exception.
func (h *hostBuffers) normalize(host []byte) (_ []byte, ok bool) {
	h.out = h.out[:0]
	if bytes.IndexByte(host, '%') < 0 {
		h.out = ascii.AppendLower(h.out, host)
	} else {
		h.decode(host)
		if !h.appendASCII() {
			return nil, false
		}
	}
	return bytes.TrimSuffix(h.out, []byte(".")), true
}

// decode sets h.runes to the host, decoded and in lower case.
func (h *hostBuffers) decode(host []byte) {
	h.decoded, h.runes = h.decoded[:0], h.runes[:0]
	for len(host) > 0 {
		c, n := ascii.Unescape(host)
		if host[0] == '+' {
			c = ' '
		}
		h.decoded, host = append(h.decoded, c), host[n:]
	}
	for text := h.decoded; len(text) > 0; {
		r, size := rune(text[0]), 1
		if r >= utf8.RuneSelf {
			r, size = decodeRune(text)
		}
		if r == '\u0130' { // a capital I with a dot has two characters in lower case
			h.runes = append(h.runes, 'i', '\u0307')
		} else {
			h.runes = append(h.runes, unicode.ToLower(r))
		}
		text = text[size:]
	}
}

// appendASCII appends the host in ASCII, as java.net.IDN converts it: label by
// label if it contains a character that is not ASCII.
func (h *hostBuffers) appendASCII() (ok bool) {
	plain := ascii.Only(h.runes)
	if len(h.runes) == 1 && idna2003.IsDot(h.runes[0]) {
		h.out = append(h.out, '.')
		return true
	}
	for rest := h.runes; len(rest) > 0; {
		end := slices.IndexFunc(rest, func(r rune) bool { return plain || idna2003.IsDot(r) })
		if plain || end < 0 {
			end = len(rest)
		}
		if plain {
			for _, r := range rest {
				h.out = append(h.out, byte(r))
			}
		} else if h.out, ok = idna2003.AppendASCII(h.out, rest[:end]); !ok {
			return false
		}
		if end < len(rest) {
			h.out = append(h.out, '.')
			end++
		}
		rest = rest[end:]
	}
	return true
}
