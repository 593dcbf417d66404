package idna

import (
	"bufio"
	"errors"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// This file contains the readable twin of the package. It reads the data files
// itself, processes whole domains in the order of UTS 46, section 4, takes
// quadratic time, and uses regular expressions where they are clearest.

type slowProps struct {
	bidi, joining byte // one letter for each class, see slowBidi
	ccc           int
	mark          bool
}

type slowTables struct {
	mapping map[rune]string // "V", "I", or "M" and what the character maps to
	props   map[rune]slowProps
	decomp  map[rune][]rune
	comp    map[[2]rune]rune
}

// slowBidi assigns a letter to each Bidi_Class that the Bidi Rule
// distinguishes.
var slowBidi = map[string]byte{
	"L": 'L', "R": 'R', "AL": 'R', "AN": 'A', "EN": 'E', "NSM": 'm', "ES": 'o', "CS": 'o', "ET": 'o', "ON": 'o', "BN": 'o', "-": 'x',
}

var slow = sync.OnceValue(func() *slowTables {
	s := &slowTables{map[rune]string{}, map[rune]slowProps{}, map[rune][]rune{}, map[[2]rune]rune{}}
	slowEach("mapping.txt", func(c rune, f []string) {
		s.mapping[c] = f[0] + string(slowCodes(f[1:]))
	})
	slowEach("properties.txt", func(c rune, f []string) {
		ccc, _ := strconv.Atoi(f[2])
		s.props[c] = slowProps{slowBidi[f[0]], f[1][0], ccc, strings.Contains(f[3], "M")}
	})
	slowEach("decomposition.txt", func(c rune, f []string) {
		to := slowCodes(f[1:])
		s.decomp[c] = to
		if f[0] == "C" {
			s.comp[[2]rune{to[0], to[1]}] = c
		}
	})
	for c := rune(0xAC00); c <= 0xD7A3; c++ { // every Hangul syllable is composed of two parts: Unicode §3.12
		i := c - 0xAC00
		to := []rune{c - i%28, 0x11A7 + i%28}
		if i%28 == 0 {
			to = []rune{0x1100 + i/588, 0x1161 + i%588/28}
		}
		s.decomp[c] = to
		s.comp[[2]rune{to[0], to[1]}] = c
	}
	return s
})

func slowEach(name string, f func(c rune, fields []string)) {
	data, err := os.ReadFile("data/" + name)
	if err != nil {
		panic(err)
	}
	sc := bufio.NewScanner(strings.NewReader(string(data)))
	for sc.Scan() {
		fields := strings.Fields(sc.Text())
		if fields[0] == "#" {
			continue
		}
		first, last, isRange := strings.Cut(fields[0], "..")
		if !isRange {
			last = first
		}
		for c := slowCodes([]string{first})[0]; c <= slowCodes([]string{last})[0]; c++ {
			f(c, fields[1:])
		}
	}
}

func slowCodes(fields []string) (out []rune) {
	for _, f := range fields {
		n, err := strconv.ParseInt(f, 16, 32)
		if err != nil {
			panic(err)
		}
		out = append(out, rune(n))
	}
	return out
}

var errSlow = errors.New("no ASCII form")

func slowASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// slowToASCII is ToASCII of UTS 46, section 4.2.
func slowToASCII(domain string, strict bool) (string, error) {
	if !utf8.ValidString(domain) {
		return "", errSlow
	}
	s := slow()
	var mapped []rune
	for _, r := range domain { // step 1 of section 4
		switch m := s.mapping[r]; {
		case m == "I":
		case strings.HasPrefix(m, "M"):
			mapped = append(mapped, []rune(m[1:])...)
		default:
			mapped = append(mapped, r)
		}
	}
	labels := strings.Split(string(s.nfc(mapped)), ".") // steps 2 and 3
	texts := make([][]rune, len(labels))
	for i, label := range labels { // step 4
		texts[i] = []rune(label)
		if rest, ok := strings.CutPrefix(label, "xn--"); ok {
			if texts[i], ok = slowDecode(rest); !ok || !slowASCII(rest) || slowASCII(string(texts[i])) {
				return "", errSlow
			}
		}
		if !s.validLabel(texts[i], strict) {
			return "", errSlow
		}
	}
	if !s.validBidi(texts) {
		return "", errSlow
	}
	for i, text := range texts {
		labels[i] = string(text)
		if !slowASCII(labels[i]) {
			labels[i] = "xn--" + slowEncode(text)
		}
		if strict && (len(labels[i]) == 0 || len(labels[i]) > 63) {
			return "", errSlow
		}
	}
	out := strings.Join(labels, ".")
	if strict && len(out) > 253 {
		return "", errSlow
	}
	return out, nil
}

// nfc follows the definitions of The Unicode Standard, section 3.11.
func (s *slowTables) nfc(in []rune) []rune {
	var out []rune
	var decompose func(r rune)
	decompose = func(r rune) {
		if s.decomp[r] == nil {
			out = append(out, r)
		}
		for _, d := range s.decomp[r] {
			decompose(d)
		}
	}
	for _, r := range in {
		decompose(r)
	}
	ccc := func(r rune) int { return s.props[r].ccc }
	for swapped := true; swapped; { // D108: exchange reorderable pairs until there are none
		swapped = false
		for i := 1; i < len(out); i++ {
			if ccc(out[i-1]) > ccc(out[i]) && ccc(out[i]) > 0 {
				out[i-1], out[i], swapped = out[i], out[i-1], true
			}
		}
	}
	for i := 1; i < len(out); i++ { // D117
		starter := i - 1
		for starter >= 0 && ccc(out[starter]) != 0 {
			starter--
		}
		if starter < 0 || starter < i-1 && ccc(out[i-1]) >= ccc(out[i]) { // D115: blocked
			continue
		}
		if c, ok := s.comp[[2]rune{out[starter], out[i]}]; ok {
			out[starter] = c
			out = append(out[:i], out[i+1:]...)
			i--
		}
	}
	return out
}

// validLabel checks the criteria 1 to 8 of UTS 46, section 4.1.
func (s *slowTables) validLabel(label []rune, strict bool) bool {
	text := string(label)
	switch {
	case string(s.nfc(label)) != text,
		strict && (strings.HasPrefix(text, "-") || strings.HasSuffix(text, "-") || len(label) > 3 && string(label[2:4]) == "--"),
		!strict && strings.HasPrefix(text, "xn--"),
		strings.Contains(text, "."),
		len(label) > 0 && s.props[label[0]].mark:
		return false
	}
	for i, r := range label {
		if s.mapping[r] != "V" || strict && r < 0x80 && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) {
			return false
		}
		if r == 0x200C && !s.joinerFits(label, i, true) || r == 0x200D && !s.joinerFits(label, i, false) {
			return false
		}
	}
	return true
}

// joinerFits is RFC 5892 A.1 and A.2.
func (s *slowTables) joinerFits(label []rune, i int, nonJoiner bool) bool {
	if i > 0 && s.props[label[i-1]].ccc == 9 {
		return true
	}
	before, after := s.letters(label[:i], joiningLetter), s.letters(label[i+1:], joiningLetter)
	return nonJoiner && joinBefore.MatchString(before) && joinAfter.MatchString(after)
}

var (
	joinBefore = regexp.MustCompile(`[LD]T*$`)
	joinAfter  = regexp.MustCompile(`^T*[RD]`)
	ruleLTR    = regexp.MustCompile(`^L([LEom]*[LE])?m*$`)
	ruleRTL    = regexp.MustCompile(`^R([RAEom]*[RAE])?m*$`)
)

func joiningLetter(p slowProps) byte { return p.joining }
func bidiLetter(p slowProps) byte    { return p.bidi }

func (s *slowTables) letters(label []rune, letter func(slowProps) byte) string {
	var out []byte
	for _, r := range label {
		out = append(out, letter(s.props[r]))
	}
	return string(out)
}

// validBidi checks criterion 9: RFC 5893, sections 1.4 and 2.
func (s *slowTables) validBidi(labels [][]rune) bool {
	rtl, ok := false, true
	for _, label := range labels {
		classes := s.letters(label, bidiLetter)
		rtl = rtl || strings.ContainsAny(classes, "RA")
		both := strings.Contains(classes, "A") && strings.Contains(classes, "E")
		ok = ok && (classes == "" || ruleLTR.MatchString(classes) || ruleRTL.MatchString(classes) && !both)
	}
	return ok || !rtl
}

// slowEncode is RFC 3492, section 6.3, without overflow checks: for labels of
// moderate length.
func slowEncode(label []rune) string {
	var out []byte
	for _, r := range label {
		if r < 0x80 {
			out = append(out, byte(r))
		}
	}
	b := len(out)
	if b > 0 {
		out = append(out, '-')
	}
	n, delta, bias, h := 0x80, 0, 72, b
	for h < len(label) {
		m := 0x110000
		for _, r := range label {
			if int(r) >= n {
				m = min(m, int(r))
			}
		}
		delta += (m - n) * (h + 1)
		n = m
		for _, r := range label {
			if int(r) < n {
				delta++
			}
			if int(r) != n {
				continue
			}
			q := delta
			for k := 36; ; k += 36 {
				t := max(1, min(26, k-bias))
				if q < t {
					break
				}
				out = append(out, punyDigits[t+(q-t)%(36-t)])
				q = (q - t) / (36 - t)
			}
			out = append(out, punyDigits[q])
			bias = slowAdapt(int64(delta), int64(h+1), h == b)
			delta = 0
			h++
		}
		delta++
		n++
	}
	return string(out)
}

const punyDigits = "abcdefghijklmnopqrstuvwxyz0123456789"

// slowDecode is RFC 3492, section 6.2, for lower-case input.
func slowDecode(s string) ([]rune, bool) {
	var out []rune
	if i := strings.LastIndexByte(s, '-'); i > 0 {
		out, s = []rune(s[:i]), s[i+1:]
	}
	n, i, bias := int64(0x80), int64(0), 72
	for first := true; s != ""; first = false {
		old, w := i, int64(1)
		for k := 36; ; k += 36 {
			if s == "" {
				return nil, false
			}
			digit := strings.IndexByte(punyDigits, s[0])
			s = s[1:]
			i += int64(digit) * w
			if digit < 0 || i > math.MaxUint32 || w > math.MaxUint32 {
				return nil, false
			}
			t := max(1, min(26, k-bias))
			if digit < t {
				break
			}
			w *= int64(36 - t)
		}
		length := int64(len(out) + 1)
		bias = slowAdapt(i-old, length, first)
		n += i / length
		i %= length
		if n > 0x10FFFF || n >= 0xD800 && n < 0xE000 {
			return nil, false
		}
		out = slices.Insert(out, int(i), rune(n))
		i++
	}
	return out, true
}

// slowAdapt is RFC 3492, section 6.1.
func slowAdapt(delta, points int64, first bool) int {
	if first {
		delta /= 700
	} else {
		delta /= 2
	}
	delta += delta / points
	k := int64(0)
	for delta > 35*26/2 {
		delta /= 35
		k += 36
	}
	return int(k + 36*delta/(delta+38))
}

// checkTwin compares the results of the package and of its twin for a domain.
func checkTwin(t *testing.T, domain string) {
	t.Helper()
	want, relaxed := slowToASCII(domain, false)
	if at, err := Valid([]byte(domain)); (err == nil) != (relaxed == nil) || (at < 0) != (err == nil) || at > len(domain) {
		t.Fatalf("Valid(%+q): %d, %v; the twin: %v", domain, at, err, relaxed)
	}
	if slowASCII(domain) { // URL Standard, domain to ASCII, since 2026-06-25
		want, relaxed = strings.ToLower(domain), nil
	}
	if got, err := AppendASCII(nil, []byte(domain)); (err == nil) != (relaxed == nil) || string(got) != want {
		t.Fatalf("AppendASCII(%+q) = %q, %v; the twin: %q, %v", domain, got, err, want, relaxed)
	}
	_, strict := slowToASCII(domain, true)
	if at, err := Strict([]byte(domain)); (err == nil) != (strict == nil) || (at < 0) != (err == nil) || at > len(domain) {
		t.Fatalf("Strict(%+q): %d, %v; the twin: %v", domain, at, err, strict)
	}
}
