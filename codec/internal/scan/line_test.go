package scan

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// checkLine compares the marks of the first line of text with loops, in memory that
// held other marks.
func checkLine(t *testing.T, s *Set, text []byte) {
	t.Helper()
	used := func() Marks { return Marks{1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1} }
	size := bytes.IndexByte(text, '\n') + 1
	m, n := s.MarkLine(used(), text)
	a, b, k := MarkLine(used(), used(), text, '/', '.')
	if n != size || k != size {
		t.Fatalf("%q has a line of %d and %d bytes, want %d", text, n, k, size)
	}
	if body := text[:max(0, size-1)]; size > 0 {
		for _, marks := range []Marks{m, a, b} {
			marks.End(len(body))
		}
		checkNext(t, m, body, func(c byte) bool { return !s.table[c] })
		checkNext(t, a, body, func(c byte) bool { return c == '/' })
		checkNext(t, b, body, func(c byte) bool { return c == '.' })
	}
	a, b = MarkTwo(used(), used(), text, '/', '\n')
	checkNext(t, a, text, func(c byte) bool { return c == '/' })
	checkNext(t, b, text, func(c byte) bool { return c == '\n' })
}

func TestMarkLine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pages := make([]byte, 3*4096) // so that texts begin and end at pages
	for i := range pages {
		pages[i] = "abc/. \xff"[rnd.IntN(7)]
	}
	for _, size := range []int{0, 1, 31, 63, 64, 65, 127, 128, 129, 200} {
		for _, start := range []int{4096, 4096 + 17, 8192 - size, 8192 - 5, 4096 - size/2} {
			for _, feed := range []int{0, 1, 62, 63, 64, 65, 126, 127, 128, 190, -1} {
				text := bytes.Clone(pages)[start : start+size : start+size]
				if feed >= 0 && feed < size {
					text[feed] = '\n'
				}
				if feed == 65 && size > 130 {
					text[63], text[64] = 'a', '/'
				}
				for _, s := range sets {
					checkLine(t, s, text)
				}
			}
		}
	}
	long := append(bytes.Repeat([]byte("a"), maxLine), '\n')
	if _, n := sets["path"].MarkLine(nil, long); n != 0 {
		t.Errorf("a line of %d bytes was read", n)
	}
	if _, _, n := MarkLine(nil, nil, long[1:], 'a', 'b'); n != maxLine {
		t.Errorf("a line of %d bytes was not read, but %d", maxLine, n)
	}
}

func FuzzMarkLine(f *testing.F) {
	f.Add([]byte("http://www.example.com/a/b/./index.html?q=1\nhttp://h/"))
	f.Add(bytes.Repeat([]byte("/."), 50))
	f.Fuzz(func(t *testing.T, text []byte) { checkLine(t, sets["path"], text) })
}
