package percent

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Reference implementations of the fast functions, written for readability.

var (
	reTriplet = regexp.MustCompile(`^%[0-9A-Fa-f]{2}`)
	reHex     = regexp.MustCompile(`^[0-9A-Fa-f]$`)
	reUnres   = regexp.MustCompile(`^[A-Za-z0-9._~-]$`)
)

// slowToken is a token of esc-scan: an escape, a malformed '%', or a raw byte.
type slowToken struct {
	at                int
	text              string
	escape, malformed bool
}

func slowScan(src string) (tokens []slowToken) {
	for at := 0; at < len(src); {
		t := slowToken{at: at, text: src[at : at+1]}
		if e := reTriplet.FindString(src[at:]); e != "" {
			t.text, t.escape = e, true
		}
		t.malformed = t.text == "%"
		tokens = append(tokens, t)
		at += len(t.text)
	}
	return tokens
}

// octet returns the byte that an escape stands for, as a string.
func (t slowToken) octet() string {
	n, err := strconv.ParseUint(t.text[1:], 16, 8)
	if err != nil {
		panic(err)
	}
	return string([]byte{byte(n)})
}

// slowNormal applies the rules token by token to the output. marks is parallel
// to out and marks each malformed '%' that is kept.
func slowNormal(src string, r EscapeRules) (out string, malformed int) {
	var marks string
	emit := func(s, mark string) {
		out += s
		marks += strings.Repeat(mark, len(s))
	}
	for _, t := range slowScan(src) {
		switch {
		case t.malformed && r.Malformed == MalformedReject:
			return "", t.at
		case t.malformed && r.Malformed == MalformedEncode:
			emit("%25", ".")
		case t.malformed:
			emit("%", "S")
		case !t.escape && r.Add.Has(t.text[0]) && !(r.Unreserved && reUnres.MatchString(t.text)):
			emit(fmt.Sprintf("%%%02X", t.text[0]), ".")
		case !t.escape && reHex.MatchString(t.text):
			emit(t.text, "h")
		case !t.escape:
			emit(t.text, ".")
		case r.Unreserved && reHex.MatchString(t.octet()) && (strings.HasSuffix(marks, "S") || strings.HasSuffix(marks, "Sh")):
			fallthrough
		case !r.Unreserved || !reUnres.MatchString(t.octet()):
			if r.Upper {
				t.text = strings.ToUpper(t.text)
			}
			emit(t.text, ".")
		case reHex.MatchString(t.octet()):
			emit(t.octet(), "h")
		default:
			emit(t.octet(), ".")
		}
	}
	return out, -1
}

func slowDecode(src string) (out string) {
	for _, t := range slowScan(src) {
		if t.escape {
			out += t.octet()
		} else {
			out += t.text
		}
	}
	return out
}

func slowEncode(src string, s ByteSet) (out string) {
	for _, c := range []byte(src) {
		switch {
		case s == WHATWGForm && c == ' ':
			out += "+"
		case c == '%' || s.Has(c):
			out += fmt.Sprintf("%%%02X", c)
		default:
			out += string([]byte{c})
		}
	}
	return out
}

var (
	reTruncated = regexp.MustCompile(`^%[0-9A-Fa-f]?$`)
	rePercentU  = regexp.MustCompile(`^%[uU][0-9A-Fa-f]{4}`)
	reDouble    = regexp.MustCompile(`^%(?:25)+[0-9A-Fa-f]{2}`)
	reLeft      = regexp.MustCompile(`(?i)(^|[/\\]|%2f|%5c)$`)
	reRight     = regexp.MustCompile(`(?i)^(?:\.|%2e){2}($|[/\\]|%2f|%5c)`)
	reLower     = regexp.MustCompile(`[a-f]`)
)

// slowDefects finds the defects kind by kind and sorts them.
func slowDefects(src string) (ds []Defect) {
	add := func(at int, k Kind) { ds = append(ds, Defect{At: uint32(at), Kind: k}) }
	for _, t := range slowScan(src) {
		left, right := reLeft.FindStringSubmatch(src[:t.at]), reRight.FindStringSubmatch(src[t.at:])
		if left != nil && right != nil && (len(left[1]) == 3 || len(right[1]) == 3) {
			add(t.at, EncodedTraversal)
		}
		switch {
		case t.malformed:
			add(t.at, slowMalformed(src[t.at:]))
			continue
		case !t.escape:
			continue
		}
		b := t.octet()[0]
		if b == 0 {
			add(t.at, kindNUL)
		}
		if b > 0 && b < 0x20 || b == 0x7F {
			add(t.at, kindControl)
		}
		if reLower.MatchString(t.text) {
			add(t.at, kindLowerHex)
		}
		if reUnres.MatchString(t.octet()) {
			add(t.at, kindNeedlessEscape)
		}
	}
	ds = append(ds, slowUTF8(src)...)
	ds = append(ds, slowDouble(src)...)
	slices.SortFunc(ds, func(a, b Defect) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind))
	})
	return ds
}

func slowMalformed(rest string) Kind {
	switch {
	case reTruncated.MatchString(rest):
		return kindTruncated
	case rePercentU.MatchString(rest):
		return kindPercentU
	}
	return kindNonHex
}

// slowUTF8 splits runs of adjacent escapes of bytes from 80 to FF into
// sequences and checks the bytes of each one.
func slowUTF8(src string) (ds []Defect) {
	tokens := slowScan(src)
	high := func(i int) bool { return i < len(tokens) && tokens[i].escape && tokens[i].octet()[0] >= 0x80 }
	for i := 0; i < len(tokens); i++ {
		if !high(i) {
			continue
		}
		seq := []byte(tokens[i].octet())
		at, want := tokens[i].at, map[byte]int{0xC: 2, 0xD: 2, 0xE: 3, 0xF: 4}[seq[0]>>4]
		if seq[0] >= 0xF8 {
			want = map[bool]int{true: 5, false: 6}[seq[0] < 0xFC]
		}
		if seq[0] >= 0xFE {
			want = 1
		}
		for len(seq) < want && high(i+1) && tokens[i+1].octet()[0] < 0xC0 {
			i++
			seq = append(seq, tokens[i].octet()...)
		}
		if k, bad := slowVerdict(seq, want); bad {
			ds = append(ds, Defect{At: uint32(at), Kind: k})
		}
	}
	return ds
}

// slowVerdict computes the code point and compares it with the smallest one
// that needs as many bytes.
func slowVerdict(seq []byte, want int) (k Kind, bad bool) {
	if len(seq) != want || want < 2 || want > 4 {
		return kindBadUTF8, true
	}
	r := rune(seq[0]) & (0x7F >> want)
	for _, c := range seq[1:] {
		r = r<<6 | rune(c)&0x3F
	}
	switch least := map[int]rune{2: 0x80, 3: 0x800, 4: 0x10000}[want]; {
	case r < least:
		return kindOverlongUTF8, true
	case r >= 0xD800 && r <= 0xDFFF:
		return kindSurrogateUTF8, true
	case r > 0x10FFFF:
		return kindBadUTF8, true
	}
	return kindNoncharacter, r&0xFFFF >= 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF
}

// slowDouble decodes each double escape until no escape is left.
func slowDouble(src string) (ds []Defect) {
	var run []int // indexes in ds of the defects in the current run
	var runBytes []byte
	endOfRun := 0
	finish := func() {
		for _, i := range run {
			if bytes.Equal(runBytes, bytes.ToValidUTF8(runBytes, nil)) {
				ds[i].Bits |= WouldBeUTF8
			}
		}
		run, runBytes = nil, nil
	}
	for _, t := range slowScan(src) {
		e := reDouble.FindString(src[t.at:])
		if !t.escape || e == "" {
			continue
		}
		d := Defect{At: uint32(t.at), Kind: kindDoubleEncoded}
		text, rounds := e, -1
		for reTriplet.MatchString(text) {
			text = slowDecode(text)
			rounds++
		}
		d.Depth = uint8(min(rounds, 255))
		if strings.Contains(`:/?#[]@!$&'()*+,;=\`, text) {
			d.Bits |= WouldDelimit
		}
		if t.at != endOfRun || text[0] < 0x80 {
			finish()
		}
		if endOfRun = t.at + len(e); text[0] < 0x80 {
			d.Bits |= WouldBeUTF8
		} else {
			run, runBytes = append(run, len(ds)), append(runBytes, text[0])
		}
		ds = append(ds, d)
	}
	finish()
	return ds
}
