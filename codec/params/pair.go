package params

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// A Pair is one field of a query, as offsets into it:
//
//	q=a+b&page=2
//	      ^   ^ ^
//	      |   | End
//	      |   NameEnd
//	      Start
//
// The raw name is query[Start:NameEnd]. If Eq is set, query[NameEnd] is '=' and
// the raw value is query[NameEnd+1:End]; otherwise NameEnd equals End. Names
// and values are raw: decode them after splitting, never before (URL Standard
// §5.1). Not covered by the stability page.
type Pair struct {
	Start, NameEnd, End uint32
	Eq                  bool // distinguishes "a=" from "a"
}

// Name returns the raw name of p as a subslice of query.
func (p Pair) Name(query []byte) []byte { return query[p.Start:p.NameEnd:p.NameEnd] }

// Value returns the raw value of p as a subslice of query, or nil if p has no
// '='.
func (p Pair) Value(query []byte) []byte {
	if !p.Eq {
		return nil
	}
	return query[p.NameEnd+1 : p.End : p.End]
}

// AppendPairs appends the fields of query to dst and returns the extended slice
// (rule q-split). It includes empty fields, at either end or between two
// separators; an empty query has no fields. query must be shorter than 4 GiB.
// Not covered by the stability page.
func AppendPairs(dst []Pair, query []byte) []Pair {
	if len(query) == 0 {
		return dst
	}
	for start := 0; start <= len(query); {
		end := len(query)
		if i := bytes.IndexByte(query[start:], '&'); i >= 0 {
			end = start + i
		}
		p := Pair{Start: uint32(start), NameEnd: uint32(end), End: uint32(end)}
		if i := bytes.IndexByte(query[start:end], '='); i >= 0 {
			p.NameEnd, p.Eq = uint32(start+i), true
		}
		dst = append(dst, p)
		start = end + 1
	}
	return dst
}

// AppendName appends the raw name or value of a field as decoded by a form: '+'
// becomes a space, then escapes are decoded once (URL Standard §5.1). Bytes
// that are not valid UTF-8 are not replaced. Not covered by the stability page.
func AppendName(dst, raw []byte) []byte { return percent.AppendDecodeForm(dst, raw) }

// bare returns the part of a form-decoded name that is looked up, without a
// leading '?' and "amp;".
func bare(name []byte) []byte {
	if len(name) > 0 && name[0] == '?' {
		name = name[1:]
	}
	if len(name) >= 4 && name[3] == ';' && equalFold(name[:3], "amp") {
		name = name[4:]
	}
	return name
}

// lower returns c with an ASCII letter in lower case.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// lowerASCII returns s with ASCII letters in lower case.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

// equalFold reports whether b equals s, ignoring ASCII case. s must be in lower
// case.
func equalFold(b []byte, s string) bool { return len(b) == len(s) && hasPrefixFold(b, s) }

// hasPrefixFold reports whether b starts with s, ignoring ASCII case. s must be
// in lower case.
func hasPrefixFold(b []byte, s string) bool {
	if len(b) < len(s) {
		return false
	}
	for i := range len(s) {
		if lower(b[i]) != s[i] {
			return false
		}
	}
	return true
}

// compareFold compares b in lower case with s, byte by byte.
func compareFold(b []byte, s string) int {
	for i := range min(len(b), len(s)) {
		if c := lower(b[i]); c != s[i] {
			return int(c) - int(s[i])
		}
	}
	return len(b) - len(s)
}
