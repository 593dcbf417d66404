package locate

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/ground/scan"
)

// Dialect describes how a format escapes the bytes of a field: the byte that
// starts an escape, how to decode one, and how to encode text. A nil Dialect
// escapes nothing. A Dialect must not change once it is in use, and is then
// safe for concurrent use.
type Dialect struct {
	// Mark is the first byte of every escape. 0 means that there are no escapes
	// to decode.
	Mark byte
	// Decode appends the decoded form of the escape at the start of s to dst,
	// at least one byte, and returns the length of the escape in s. s starts
	// with Mark. A Mark that does not start an escape is literal.
	Decode func(dst, s []byte) (_ []byte, n int)
	// Encode appends text to dst in the escaped form of the format. stop is a
	// byte that would end the field, or 0. If Encode is nil, text is written
	// unescaped.
	Encode func(dst, text []byte, stop byte) []byte

	Backslash bool // a quote after a backslash does not end the field
	// Text, if not nil, replaces Mark and Decode for encodings in which any
	// byte can start an escape. It has the results of Unescape.
	Text func(dst, raw []byte, runs []Run) ([]byte, []Run, bool)
}

// Dialects of the built-in formats. With a nil dialect, all text is literal.
var (
	NginxDialect  = &Dialect{Mark: '\\', Decode: DecodeHex, Encode: EncodeHex}                    // \xHH; ngx_http_log_module, escape=default
	ApacheDialect = &Dialect{Mark: '\\', Decode: decodeC, Encode: EncodeApache, Backslash: true}  // \xhh \" \\ \b \n \r \t \v; mod_log_config
	UnionDialect  = &Dialect{Mark: '\\', Decode: decodeC, Encode: EncodeHex, Backslash: true}     // decodes like ApacheDialect, a superset of nginx; encodes like nginx
	JSONDialect   = &Dialect{Mark: '\\', Decode: DecodeJSON, Encode: encodeJSON, Backslash: true} // JSON string, RFC 8259 §7; nginx escape=json
	CellDialect   = &Dialect{Encode: encodeCell}                                                  // unquoted csv or tsv cell
	HashDialect   = &Dialect{Mark: '#', Decode: DecodeMarked, Encode: EncodeHash}                 // #HH; HAProxy
	QuotedDialect = &Dialect{Mark: '"', Decode: decodeQuote, Encode: EncodeQuotes}                // inside of a quoted cell, where "" is a quote; RFC 4180 §2
)

// Run maps a range of unescaped text to the record. It is valid from the offset
// Text up to the start of the next Run.
type Run struct {
	Text, Raw int
	Step      int // 1: both offsets advance together; 0: the whole range is one escape
}

// EscapesQuotes reports whether a backslash escapes the next quote.
func (d *Dialect) EscapesQuotes() bool { return d != nil && d.Backslash }

// Decodes reports whether text can have escapes.
func (d *Dialect) Decodes() bool { return d != nil && (d.Mark != 0 || d.Text != nil) }

// Unescape decodes the escapes of raw. Without escapes, it returns raw itself
// and no runs. Otherwise it appends the text to dst[:0] and the offset map to
// runs[:0].
func (d *Dialect) Unescape(dst, raw []byte, runs []Run) (text []byte, _ []Run, escaped bool) {
	if d == nil || d.Mark == 0 {
		if d != nil && d.Text != nil {
			return d.Text(dst, raw, runs)
		}
		return raw, runs[:0], false
	}
	i := bytes.IndexByte(raw, d.Mark)
	if i < 0 {
		return raw, runs[:0], false
	}
	dst, runs = append(dst[:0], raw[:i]...), append(runs[:0], Run{0, 0, 1})
	for i < len(raw) {
		if raw[i] != d.Mark {
			n := bytes.IndexByte(raw[i:], d.Mark)
			if n < 0 {
				n = len(raw) - i
			}
			dst = append(dst, raw[i:i+n]...)
			i += n
			continue
		}
		at := len(dst)
		var n int
		dst, n = d.Decode(dst, raw[i:])
		runs = append(runs, Run{at, i, 0})
		i += n
		runs = append(runs, Run{len(dst), i, 1})
	}
	return dst, runs, true
}

// Escape appends text to dst in escaped form. See Dialect.Encode.
func (d *Dialect) Escape(dst, text []byte, stop byte) []byte {
	if d == nil || d.Encode == nil {
		return append(dst, text...)
	}
	return d.Encode(dst, text, stop)
}

// DecodeHex decodes \xHH, the only escape of nginx.
func DecodeHex(dst, s []byte) ([]byte, int) {
	if len(s) >= 4 && s[1] == 'x' && Unhex[s[2]] < 16 && Unhex[s[3]] < 16 {
		return append(dst, Unhex[s[2]]<<4|Unhex[s[3]]), 4
	}
	return append(dst, '\\'), 1
}

// decodeC decodes \xHH and the two-byte escapes of Apache.
func decodeC(dst, s []byte) ([]byte, int) {
	if len(s) >= 2 && cEscape[s[1]] != 0 {
		return append(dst, cEscape[s[1]]), 2
	}
	return DecodeHex(dst, s)
}

// DecodeMarked decodes the Mark and two hex digits, such as #HH and %HH.
func DecodeMarked(dst, s []byte) ([]byte, int) {
	if len(s) >= 3 && Unhex[s[1]] < 16 && Unhex[s[2]] < 16 {
		return append(dst, Unhex[s[1]]<<4|Unhex[s[2]]), 3
	}
	return append(dst, s[0]), 1
}

// decodeQuote decodes a doubled quote to one quote.
func decodeQuote(dst, s []byte) ([]byte, int) {
	if len(s) > 1 && s[1] == '"' {
		return append(dst, '"'), 2
	}
	return append(dst, '"'), 1
}

// cEscape maps the second byte of Apache's two-byte escapes to the decoded
// byte.
var cEscape = [256]byte{'"': '"', '\\': '\\', 'b': '\b', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// JSONEscapes maps the second byte of JSON's two-byte escapes to the decoded
// byte.
var JSONEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// Unhex maps each hexadecimal digit to its value and every other byte to 255.
var Unhex = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()

// DecodeJSON decodes a JSON escape. An unpaired surrogate becomes the three
// bytes that UTF-8 would use if it allowed surrogates, so that it is preserved
// and the codec flags it. \xHH, which is not JSON, is a byte: nginx writes it without
// escape=json. A backslash that does not start an escape is literal.
func DecodeJSON(dst, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return append(dst, s...), len(s)
	}
	if c := JSONEscapes[s[1]]; c != 0 {
		return append(dst, c), 2
	}
	r, ok := Hex4(s)
	if !ok {
		return DecodeHex(dst, s)
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	if r2, ok := Hex4(s[6:]); ok {
		if pair := utf16.DecodeRune(r, r2); pair != utf8.RuneError {
			return utf8.AppendRune(dst, pair), 12
		}
	}
	return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F)), 6
}

// Hex4 decodes \uXXXX at the start of s.
func Hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	return HexUnit(s[2:6])
}

// HexUnit decodes the hexadecimal number s. It returns false if s has a byte
// that is no digit.
func HexUnit(s []byte) (rune, bool) {
	var r rune
	for _, c := range s {
		if Unhex[c] > 15 {
			return 0, false
		}
		r = r<<4 | rune(Unhex[c])
	}
	return r, true
}

// RawOffset maps an offset in unescaped text to an offset in the escaped bytes.
func RawOffset(runs []Run, at int) int {
	if len(runs) == 0 {
		return at
	}
	lo, hi := 0, len(runs)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; runs[mid].Text <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	// Every escape decodes to at least one byte, so no two runs start at the
	// same offset and lo is the run that contains at.
	return runs[lo].Raw + (at-runs[lo].Text)*runs[lo].Step
}

// The hexadecimal digits.
const (
	UpperHex = "0123456789ABCDEF"
	LowerHex = "0123456789abcdef"
)

// EncodeHex encodes text as nginx does: quotes, backslashes, stop, and every
// byte that is not printable ASCII become \xHH.
func EncodeHex(dst, text []byte, stop byte) []byte {
	return EncodeBytes(dst, text, stop, plainInLog, func(dst []byte, c byte) []byte {
		return append(dst, '\\', 'x', UpperHex[c>>4], UpperHex[c&15])
	})
}

// EncodeApache encodes text as Apache does: \" and \\, and \xhh for stop and
// every other byte that is not printable ASCII.
func EncodeApache(dst, text []byte, stop byte) []byte {
	return EncodeBytes(dst, text, stop, plainInLog, func(dst []byte, c byte) []byte {
		if c == '"' || c == '\\' {
			return append(dst, '\\', c)
		}
		return AppendHex(dst, c)
	})
}

// AppendHex appends \xhh.
func AppendHex(dst []byte, c byte) []byte {
	return append(dst, '\\', 'x', LowerHex[c>>4], LowerHex[c&15])
}

// EncodeBytes appends text. It calls escape to append stop and each byte
// outside plain.
func EncodeBytes(dst, text []byte, stop byte, plain *scan.Set, escape func(dst []byte, c byte) []byte) []byte {
	for {
		n := PlainEnd(plain, text, stop)
		if dst = append(dst, text[:n]...); n == len(text) {
			return dst
		}
		dst, text = escape(dst, text[n]), text[n+1:]
	}
}

// plainInLog is the set of bytes that need no escape in a log field, and
// plainInHAProxy is the set for request lines of HAProxy. Most URLs contain no
// other bytes.
var (
	plainInLog     = scan.NewSet(func(c byte) bool { return c >= ' ' && c < 0x7F && c != '"' && c != '\\' })
	plainInHAProxy = scan.NewSet(func(c byte) bool { return c >= ' ' && c < 0x7F && c != '"' && c != '#' })
)

// PlainEnd returns the offset of the first byte of text that is not in set or is
// stop, or len(text). stop is 0 if no byte ends the field.
func PlainEnd(set *scan.Set, text []byte, stop byte) int {
	n := set.End(text, 0)
	if stop != 0 {
		if i := bytes.IndexByte(text[:n], stop); i >= 0 {
			return i
		}
	}
	return n
}

// EncodeHash encodes text as HAProxy does in request lines: '"', '#', and every
// byte that is not printable ASCII become #HH.
func EncodeHash(dst, text []byte, _ byte) []byte {
	return EncodeBytes(dst, text, 0, plainInHAProxy, func(dst []byte, c byte) []byte {
		return append(dst, '#', UpperHex[c>>4], UpperHex[c&15])
	})
}

// encodeJSON encodes text as the inside of a JSON string.
func encodeJSON(dst, text []byte, _ byte) []byte { return AppendASCIIString(dst, text) }

// encodeCell encodes text as a table cell, with quotes if needed. stop is the
// separator.
func encodeCell(dst, text []byte, stop byte) []byte {
	if bytes.IndexByte(text, stop) < 0 && bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return append(dst, text...)
	}
	return append(EncodeQuotes(append(dst, '"'), text, stop), '"')
}

// EncodeQuotes encodes text as the inside of a quoted cell.
func EncodeQuotes(dst, text []byte, _ byte) []byte {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
}

// EncodeFolding percent-encodes the line ends in text, which would end the
// field.
func EncodeFolding(dst, text []byte, _ byte) []byte {
	return AppendPercent(dst, text, func(c byte) bool { return c == '\r' || c == '\n' })
}

// AppendPercent appends text. It percent-encodes the bytes for which escapes returns
// true.
func AppendPercent(dst, text []byte, escapes func(c byte) bool) []byte {
	for _, c := range text {
		if escapes(c) {
			dst = percent.AppendEscape(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
