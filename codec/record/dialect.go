package record

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// A Dialect says how a format escapes the bytes of a field: with which byte an
// escape starts, what it stands for, and how text is written back. A nil Dialect
// escapes nothing. A Dialect does not change once it is in use, and may be shared.
type Dialect struct {
	// Mark is the first byte of each escape. 0 means that nothing is unescaped.
	Mark byte
	// Decode appends to dst what the escape at the start of s stands for, at least
	// one byte, and returns the length of the escape. s begins with Mark. A Mark
	// that starts no escape stands for itself.
	Decode func(dst, s []byte) (_ []byte, n int)
	// Encode appends text to dst as the format writes it. stop is a byte that would
	// end the field, or 0. Nil means that text is written as it is.
	Encode func(dst, text []byte, stop byte) []byte

	backslash bool // a quote behind a backslash ends no field
}

// The dialects of the built-in formats. All are nil or constant.
var (
	nginxDialect  = &Dialect{Mark: '\\', Decode: decodeHex, Encode: encodeHex}                    // \xHH: ngx_http_log_module, escape=default
	apacheDialect = &Dialect{Mark: '\\', Decode: decodeC, Encode: encodeApache, backslash: true}  // \xhh \" \\ \b \n \r \t \v: mod_log_config
	unionDialect  = &Dialect{Mark: '\\', Decode: decodeC, Encode: encodeHex, backslash: true}     // read as Apache, which includes nginx; written as nginx
	jsonDialect   = &Dialect{Mark: '\\', Decode: decodeJSON, Encode: encodeJSON, backslash: true} // JSON string, RFC 8259 §7; nginx escape=json
	cellDialect   = &Dialect{Encode: encodeCell}                                                  // a csv or tsv cell without quotes
	quotedDialect = &Dialect{Mark: '"', Decode: decodeQuote, Encode: encodeQuotes}                // the inside of a quoted cell, RFC 4180 §2: "" is a quote
)

// A run maps a stretch of unescaped text back to the record. It holds from text
// on, until the next run starts.
type run struct {
	text, raw int
	step      int // 1: text and record advance together; 0: all of it is one escape
}

// escapesQuotes reports whether a backslash in front of a quote escapes it.
func (d *Dialect) escapesQuotes() bool { return d != nil && d.backslash }

// unescape undoes the escapes of raw. If there are none, the text is raw itself and
// there are no runs; otherwise the text is appended to dst[:0] and the offset map
// to runs[:0].
func (d *Dialect) unescape(dst, raw []byte, runs []run) (text []byte, _ []run, escaped bool) {
	if d == nil || d.Mark == 0 {
		return raw, runs[:0], false
	}
	i := bytes.IndexByte(raw, d.Mark)
	if i < 0 {
		return raw, runs[:0], false
	}
	dst, runs = append(dst[:0], raw[:i]...), append(runs[:0], run{0, 0, 1})
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
		runs = append(runs, run{at, i, 0})
		i += n
		runs = append(runs, run{len(dst), i, 1})
	}
	return dst, runs, true
}

// escape appends text to dst as the format writes it. See Dialect.Encode.
func (d *Dialect) escape(dst, text []byte, stop byte) []byte {
	if d == nil || d.Encode == nil {
		return append(dst, text...)
	}
	return d.Encode(dst, text, stop)
}

// decodeHex decodes \xHH, the one escape of nginx.
func decodeHex(dst, s []byte) ([]byte, int) {
	if len(s) >= 4 && s[1] == 'x' && unhex[s[2]] < 16 && unhex[s[3]] < 16 {
		return append(dst, unhex[s[2]]<<4|unhex[s[3]]), 4
	}
	return append(dst, '\\'), 1
}

// decodeC decodes \xHH and the two-byte escapes of Apache.
func decodeC(dst, s []byte) ([]byte, int) {
	if len(s) >= 2 && cEscape[s[1]] != 0 {
		return append(dst, cEscape[s[1]]), 2
	}
	return decodeHex(dst, s)
}

// decodeQuote decodes two quotes, which stand for one.
func decodeQuote(dst, s []byte) ([]byte, int) {
	if len(s) > 1 && s[1] == '"' {
		return append(dst, '"'), 2
	}
	return append(dst, '"'), 1
}

// cEscape holds what Apache's two-byte escapes stand for.
var cEscape = [256]byte{'"': '"', '\\': '\\', 'b': '\b', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// jsonEscapes holds what JSON's two-byte escapes stand for.
var jsonEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unhex holds the value of each hex digit, and 255 for all other bytes.
var unhex = func() (t [256]byte) {
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

// decodeJSON decodes an escape of JSON. Half of a surrogate pair becomes the three
// bytes that a longer UTF-8 would write for it, so that it is not lost and the
// codec flags it. What is no escape stays as it is.
func decodeJSON(dst, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return append(dst, s...), len(s)
	}
	if c := jsonEscapes[s[1]]; c != 0 {
		return append(dst, c), 2
	}
	r, ok := hex4(s)
	if !ok {
		return append(dst, '\\'), 1
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	if r2, ok := hex4(s[6:]); ok {
		if pair := utf16.DecodeRune(r, r2); pair != utf8.RuneError {
			return utf8.AppendRune(dst, pair), 12
		}
	}
	return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F)), 6
}

// hex4 reads a \uXXXX at the start of s.
func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	return hexUnit(s[2:6])
}

// hexUnit reads hex digits.
func hexUnit(s []byte) (rune, bool) {
	var r rune
	for _, c := range s {
		if unhex[c] > 15 {
			return 0, false
		}
		r = r<<4 | rune(unhex[c])
	}
	return r, true
}

// rawOffset leads an offset in unescaped text back to the bytes it came from.
func rawOffset(runs []run, at int) int {
	if len(runs) == 0 {
		return at
	}
	lo, hi := 0, len(runs)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; runs[mid].text <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	// An escape that stands for nothing would leave two runs with the same
	// start; there is none, so lo is the run that holds at.
	return runs[lo].raw + (at-runs[lo].text)*runs[lo].step
}

const (
	upperHex = "0123456789ABCDEF"
	lowerHex = "0123456789abcdef"
)

// encodeHex writes as nginx does: quotes, backslashes, all that is not printable
// ASCII, and stop are \xHH.
func encodeHex(dst, text []byte, stop byte) []byte {
	for _, c := range text {
		if isPlainInLog(c, stop) {
			dst = append(dst, c)
		} else {
			dst = append(dst, '\\', 'x', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// encodeApache writes as Apache does: \" and \\, and \xhh for what is not printable
// ASCII and for stop.
func encodeApache(dst, text []byte, stop byte) []byte {
	for _, c := range text {
		switch {
		case isPlainInLog(c, stop):
			dst = append(dst, c)
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, '\\', 'x', lowerHex[c>>4], lowerHex[c&15])
		}
	}
	return dst
}

// isPlainInLog reports whether a log whose fields end at stop holds c as it is.
func isPlainInLog(c, stop byte) bool {
	return c >= ' ' && c < 0x7F && c != '"' && c != '\\' && c != stop
}

// encodeJSON writes the inside of a JSON string.
func encodeJSON(dst, text []byte, _ byte) []byte { return appendASCIIString(dst, text) }

// encodeCell writes a cell of a table whose separator is stop: in quotes if it
// needs them.
func encodeCell(dst, text []byte, stop byte) []byte {
	if bytes.IndexByte(text, stop) < 0 && bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return append(dst, text...)
	}
	return append(encodeQuotes(append(dst, '"'), text, stop), '"')
}

// encodeQuotes writes the inside of a quoted cell.
func encodeQuotes(dst, text []byte, _ byte) []byte {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
}
