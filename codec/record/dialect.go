package record

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// An encoding is how the bytes of a URL are escaped inside a record.
type encoding uint8

const (
	encNone   encoding = iota
	encNginx           // \xHH: ngx_http_log_module, escape=default
	encApache          // \xhh \" \\ \b \n \r \t \v: mod_log_config
	encUnion           // read as Apache, which includes nginx; written as nginx
	encJSON            // JSON string, RFC 8259 §7; nginx escape=json
	encCell            // a csv or tsv cell without quotes
	encQuoted          // the inside of a quoted cell, RFC 4180 §2: "" is a quote
)

// A run maps a stretch of unescaped text back to the record. It holds from text
// on, until the next run starts.
type run struct {
	text, raw int
	step      int // 1: text and record advance together; 0: all of it is one escape
}

// backslash reports whether a backslash in front of a quote escapes it.
func (e encoding) backslash() bool { return e == encApache || e == encUnion || e == encJSON }

// unescape undoes e. If raw holds no escape, the text is raw itself and there
// are no runs; otherwise the text is appended to dst[:0] and the offset map to
// runs[:0]. The escapes that the writer never writes stay as they are.
func (e encoding) unescape(dst, raw []byte, runs []run) (text []byte, _ []run, escaped bool) {
	mark := byte('\\')
	switch e {
	case encNone, encCell:
		return raw, runs[:0], false
	case encQuoted:
		mark = '"'
	}
	i := bytes.IndexByte(raw, mark)
	if i < 0 {
		return raw, runs[:0], false
	}
	dst, runs = append(dst[:0], raw[:i]...), append(runs[:0], run{0, 0, 1})
	for i < len(raw) {
		if raw[i] != mark {
			n := bytes.IndexByte(raw[i:], mark)
			if n < 0 {
				n = len(raw) - i
			}
			dst = append(dst, raw[i:i+n]...)
			i += n
			continue
		}
		at := len(dst)
		var n int
		dst, n = e.one(dst, raw[i:])
		runs = append(runs, run{at, i, 0})
		i += n
		runs = append(runs, run{len(dst), i, 1})
	}
	return dst, runs, true
}

// one appends what the escape at the start of s stands for, and returns the
// escape's length.
func (e encoding) one(dst, s []byte) ([]byte, int) {
	switch e {
	case encQuoted:
		if len(s) > 1 && s[1] == '"' {
			return append(dst, '"'), 2
		}
		return append(dst, '"'), 1
	case encJSON:
		return jsonEscape(dst, s)
	}
	if len(s) >= 4 && s[1] == 'x' && unhex[s[2]] < 16 && unhex[s[3]] < 16 {
		return append(dst, unhex[s[2]]<<4|unhex[s[3]]), 4
	}
	if e != encNginx && len(s) >= 2 && cEscape[s[1]] != 0 {
		return append(dst, cEscape[s[1]]), 2
	}
	return append(dst, '\\'), 1
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

// jsonEscape is one for JSON. Half of a surrogate pair becomes the three bytes
// that a longer UTF-8 would write for it, so that it is not lost and the codec
// flags it. What is no escape stays as it is.
func jsonEscape(dst, s []byte) ([]byte, int) {
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

// escape appends text to dst as e writes it. stop is the byte that ends the
// field: the separator of a table; in a log whose dialect has a \xHH, a byte to
// be written so, if it is not 0.
func (e encoding) escape(dst, text []byte, stop byte) []byte {
	switch e {
	case encJSON:
		return appendASCIIString(dst, text)
	case encCell:
		if bytes.IndexByte(text, stop) < 0 && bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
			return append(dst, text...)
		}
		return append(encQuoted.escape(append(dst, '"'), text, stop), '"')
	case encQuoted:
		for {
			i := bytes.IndexByte(text, '"')
			if i < 0 {
				return append(dst, text...)
			}
			dst = append(append(dst, text[:i+1]...), '"')
			text = text[i+1:]
		}
	case encNone:
		return append(dst, text...)
	}
	for _, c := range text {
		switch {
		case c >= ' ' && c < 0x7F && c != '"' && c != '\\' && c != stop:
			dst = append(dst, c)
		case e != encApache:
			dst = append(dst, '\\', 'x', upperHex[c>>4], upperHex[c&15])
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, '\\', 'x', lowerHex[c>>4], lowerHex[c&15])
		}
	}
	return dst
}
