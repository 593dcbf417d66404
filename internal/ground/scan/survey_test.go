package scan

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// urlClasses are classes as the codec uses them.
var urlClasses = NewClasses(
	func(c byte) bool { return c > ' ' && c < 0x7F && strings.IndexByte("%;'\"<>\\^`{|}[]", c) < 0 },
	func(c byte) bool {
		return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '-'
	},
)

// checkSurvey compares a Survey with the definition of what it finds: with each
// kind of vectors that the processor has, and with loops.
func checkSurvey(t *testing.T, s *Survey, text []byte, start int, plain, host func(byte) bool) {
	t.Helper()
	c := NewClasses(plain, host)
	if vector {
		s.Read(text, start, c)
		checkSurveyed(t, s, text, start, plain, host)
	}
	defer func(has bool) { vector = has }(vector)
	vector = false
	var loop Survey
	loop.Read(text, start, c)
	checkSurveyed(t, &loop, text, start, plain, host)
}

// checkSurveyed compares the survey of text with the definition.
func checkSurveyed(t *testing.T, s *Survey, text []byte, start int, plain, host func(byte) bool) {
	t.Helper()
	special, question, hash := len(text), len(text), len(text)
	for i := len(text); i >= 0; i-- {
		if i < len(text) {
			other := func(b byte) bool { return b >= 0x80 || !plain(b) }
			near := i > 0 && (text[i-1] == '/' || other(text[i-1]))
			if b := text[i]; i >= start && (other(b) || b == '.' && near || b == '/' && i > 0 && text[i-1] == '/') {
				special = i
			}
			switch text[i] {
			case '?':
				question = i
			case '#':
				hash = i
			}
		}
		if i == 0 && special > 0 && len(text) > 0 && (text[0] == '.' || text[0] == '/') {
			continue // it may be special or not
		}
		if got := s.Next(i); got != special {
			t.Fatalf("%q: the first special byte from %d on is at %d, want %d", text, i, got, special)
		}
		if got := s.NextHash(i); got != hash {
			t.Fatalf("%q: the first '#' from %d on is at %d, want %d", text, i, got, hash)
		}
		if first := (Firsts{special, question, hash}); i == 0 && *s.First() != first {
			t.Fatalf("%q: the first marks are %+v, want %+v", text, *s.First(), first)
		}
	}
	if !bytes.Equal(s.Copy[:len(text)+3], append(text[:len(text):len(text)], 0, 0, 0)) || len(s.Copy) < len(text)+Margin {
		t.Fatalf("%q: the copy is %q, and %d more bytes", text, s.Copy[:len(text)+3], len(s.Copy)-len(text)-3)
	}
	for i := range min(len(text), 63) {
		end, pauses, capitals := i, uint64(0), uint64(0)
		for ; end < min(len(text), 64) && text[end] < 0x80 && host(text[end]); end++ {
			if text[end] == '.' || text[end] == '-' {
				pauses |= 1 << (end - i)
			}
			if 'A' <= text[end] && text[end] <= 'Z' {
				capitals |= 1 << (end - i)
			}
		}
		if n, p, u := s.Labels.From(i); min(i+n, 64) != end || (p != pauses || u != capitals) && end < 64 {
			t.Fatalf("%q from %d: %d bytes of labels, %b, %b, want %d, %b, %b", text, i, n, p, u, end-i, pauses, capitals)
		}
	}
}

// TestSurvey surveys texts of each length, at each distance from the end of
// their allocation. The Survey is reused, so that it has bits of longer texts.
func TestSurvey(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var s Survey
	buf := make([]byte, 8192)
	for n := range 330 {
		for _, end := range []int{len(buf), len(buf) - 1 - rnd.IntN(40), 4096, 4096 + rnd.IntN(40) - 20} {
			text := buf[end-min(n, end) : end : end]
			for i := range text {
				text[i] = "abcxyz09/../..-?#%\x80A"[rnd.IntN(20)]
			}
			checkSurvey(t, &s, text, rnd.IntN(min(n, 8)+1), func(c byte) bool { return c != '%' && c != 'x' }, func(c byte) bool { return c != '/' && c != 'c' })
		}
	}
}

// FuzzSurvey compares the vectors and the loop with the definition, on any text
// and any sets.
func FuzzSurvey(f *testing.F) {
	f.Add([]byte("http://www.example.com/a/b/./index.html?q=1#x"), uint64(1))
	f.Add(bytes.Repeat([]byte("/.?%"), 50), uint64(2))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		few := rnd.IntN(20)
		var plain, host [256]bool
		for i := range 128 {
			plain[i], host[i] = rnd.IntN(20) >= few, rnd.IntN(20) >= few
		}
		plain['.'], plain['/'], plain['?'], plain['#'] = true, true, true, true
		checkSurvey(t, new(Survey), text, rnd.IntN(min(len(text), 8)+1), func(c byte) bool { return plain[c] }, func(c byte) bool { return host[c] })
	})
}

func BenchmarkSurvey(b *testing.B) {
	text := []byte("https://www.example.com/associations2/index.html?id=4711&lang=en")
	var s Survey
	for b.Loop() {
		s.Read(text, len("https://"), urlClasses)
		s.First()
	}
}
