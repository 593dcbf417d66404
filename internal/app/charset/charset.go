// Package charset encodes the queries of URLs in legacy encodings, as browsers
// do on pages in such an encoding, and decodes the characters of such pages. It
// implements the encoders of the Encoding Standard
// (https://encoding.spec.whatwg.org/) for codec.WithQueryEncoding and the
// decoders for record.Config, based on golang.org/x/text. It is separate so
// that package codec need not link the tables.
package charset

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"github.com/urlfold/urlfold/internal/record"
)

// names lists the encodings whose queries are not in UTF-8.
var names = []string{
	"big5", "euc-jp", "euc-kr", "gb18030", "gbk", "ibm866", "iso-2022-jp",
	"iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8", "iso-8859-8-i",
	"iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16", "koi8-r", "koi8-u", "macintosh", "shift_jis",
	"windows-874", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255",
	"windows-1256", "windows-1257", "windows-1258", "x-mac-cyrillic", "x-user-defined",
}

// Names returns the names of the supported encodings, UTF-8 first, in a new
// slice.
func Names() []string { return append([]string{"utf-8"}, names...) }

// An Encoding is a legacy encoding. It implements codec.QueryEncoding and is
// safe for concurrent use.
type Encoding struct {
	name    string
	append  appender
	decoder transform.Transformer // stateless; nil for iso-2022-jp
	escapes bool                  // iso-2022-jp
}

// An appender appends char, a non-ASCII character in UTF-8, in an encoding. If
// the encoding does not contain the character, it returns dst unchanged and
// false.
type appender func(dst, char []byte) (out []byte, ok bool)

// Lookup returns the encoding for a label, such as "latin1" for windows-1252,
// ignoring case (Encoding Standard §4.2). It returns nil for UTF-8 and for the
// encodings whose queries are in UTF-8: replacement, UTF-16BE and UTF-16LE.
func Lookup(label string) (*Encoding, error) {
	e, err := htmlindex.Get(label)
	if err != nil {
		return nil, fmt.Errorf("unknown encoding %q", label)
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, name) {
		return nil, nil
	}
	if name == "iso-2022-jp" {
		eucJP, err := Lookup("euc-jp")
		if err != nil {
			return nil, err
		}
		return &Encoding{name: name, append: eucJP.append, escapes: true}, nil
	}
	return &Encoding{name: name, append: except(name, single(e)), decoder: e.NewDecoder().Transformer}, nil
}

// ForDocument returns the encoding that an HTML document names by a label, as
// [record.Config] Charset requires. It returns nil for UTF-8, and for UTF-16,
// which a document that could be read does not have
// (https://html.spec.whatwg.org/#prescan-a-byte-stream-to-determine-its-encoding).
// It returns false for unknown labels, and for iso-2022-jp, whose characters
// depend on those before them.
func ForDocument(label string) (record.Charset, bool) {
	e, err := Lookup(label)
	switch {
	case err != nil || e != nil && e.decoder == nil:
		return nil, false
	case e == nil:
		return nil, true
	}
	return e, true
}

// maxChar is the maximum length of a character in bytes.
const maxChar = 4

// AppendChar implements [record.Charset].
func (e *Encoding) AppendChar(dst, s []byte) ([]byte, int) {
	start := len(dst)
	for n := 1; n <= min(len(s), maxChar); n++ {
		dst = append(dst[:start], "eight by"...) // room for two characters
		k, read, err := e.decoder.Transform(dst[start:], s[:n], false)
		if err == nil && read > 0 {
			return dst[:start+k], read
		}
	}
	return append(dst[:start], string(utf8.RuneError)...), 1
}

// single returns the appender for an encoding of golang.org/x/text.
func single(e encoding.Encoding) appender {
	t := e.NewEncoder().Transformer // the bare Transformer reports unencodable characters; it is stateless here
	return func(dst, char []byte) ([]byte, bool) {
		start := len(dst)
		dst = append(dst, "four"...) // room for the longest sequence, four bytes
		n, _, err := t.Transform(dst[start:], char, true)
		if err != nil {
			return dst[:start], false
		}
		return dst[:start+n], true
	}
}

// except wraps next with the differences between the Encoding Standard and the
// tables of golang.org/x/text.
func except(name string, next appender) appender {
	switch name {
	case "big5": // §12.1.2, index Big5: the Hong Kong extensions are decoded, but not encoded
		return func(dst, char []byte) ([]byte, bool) {
			out, ok := next(dst, char)
			if !ok || out[len(dst)] < 0xA1 {
				return dst, false
			}
			return out, true
		}
	case "euc-jp", "shift_jis": // §13.1.2, §13.3.2
		return func(dst, char []byte) ([]byte, bool) {
			switch string(char) {
			case "¥":
				return append(dst, '\\'), true
			case "‾":
				return append(dst, '~'), true
			case "−":
				char = fullWidthMinus
			}
			out, ok := next(dst, char)
			if ok && out[len(dst)] == 0x8F { // three bytes: JIS X 0212 is decoded, but not encoded
				return dst, false
			}
			return out, ok
		}
	case "gb18030", "gbk": // §11.2.2
		return func(dst, char []byte) ([]byte, bool) {
			if string(char) == "\uE5E5" {
				return dst, false
			}
			return next(dst, char)
		}
	}
	return next
}

var fullWidthMinus = []byte("－")

// Name returns the name of e, in lower case: "windows-1252".
func (e *Encoding) Name() string { return e.name }

// AppendQuery appends text, which must be UTF-8, in the encoding. It replaces a
// character that the encoding does not contain by "%26%23", its code point in
// decimal, and "%3B"
// (https://url.spec.whatwg.org/#string-percent-encode-after-encoding).
func (e *Encoding) AppendQuery(dst, text []byte) []byte {
	if e.escapes {
		return e.appendISO2022JP(dst, text)
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		ok := r < utf8.RuneSelf
		if ok {
			dst = append(dst, text[0])
		} else {
			dst, ok = e.append(dst, text[:size])
		}
		if !ok {
			dst = appendLacking(dst, r)
		}
		text = text[size:]
	}
	return dst
}

func appendLacking(dst []byte, r rune) []byte {
	dst = strconv.AppendInt(append(dst, "%26%23"...), int64(r), 10)
	return append(dst, "%3B"...)
}

// The states of iso-2022-jp, represented by the escape sequences that select
// them.
const (
	stateASCII = "\x1B(B"
	stateRoman = "\x1B(J"
	stateJIS   = "\x1B$B"
)

// appendISO2022JP is the encoder of Encoding Standard §13.2.2: ASCII, JIS X
// 0201 without its katakana, and JIS X 0208.
func (e *Encoding) appendISO2022JP(dst, text []byte) []byte {
	state := stateASCII
	to := func(want string) {
		if state != want {
			dst = append(dst, want...)
			state = want
		}
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		char := text[:size]
		text = text[size:]
		switch {
		case r == 0x0E || r == 0x0F || r == 0x1B:
			if state == stateJIS {
				to(stateASCII)
			}
			dst = appendLacking(dst, utf8.RuneError) // without this, the text could change the state
		case r < utf8.RuneSelf:
			if state == stateJIS || r == '\\' || r == '~' {
				to(stateASCII)
			}
			dst = append(dst, byte(r))
		case r == '¥':
			to(stateRoman)
			dst = append(dst, '\\')
		case r == '‾':
			to(stateRoman)
			dst = append(dst, '~')
		default:
			pair, ok := e.jis0208(dst, char, r)
			if !ok {
				if state == stateJIS {
					to(stateASCII)
				}
				dst = appendLacking(dst, r)
				continue
			}
			to(stateJIS)
			dst = append(dst, pair[0], pair[1])
		}
	}
	to(stateASCII)
	return dst
}

// wideKatakana holds the full-width forms of U+FF61 to U+FF9F, three bytes each
// (index ISO-2022-JP katakana).
var wideKatakana = []byte("。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜")

// jis0208 returns the two bytes of a character of JIS X 0208, which are its
// EUC-JP bytes with their high bits cleared. It uses the capacity of dst as
// scratch space.
func (e *Encoding) jis0208(dst, char []byte, r rune) (pair [2]byte, ok bool) {
	if r >= 0xFF61 && r <= 0xFF9F {
		i := 3 * (r - 0xFF61)
		char = wideKatakana[i : i+3]
	}
	b, ok := e.append(dst, char)
	if b = b[len(dst):]; !ok || len(b) != 2 || b[0] < 0xA1 {
		return pair, false
	}
	return [2]byte{b[0] & 0x7F, b[1] & 0x7F}, true
}
