package scan

import (
	"math/rand/v2"
	"testing"
)

// sets are sets of each kind: none, all, a row, a column, and what a path allows.
var sets = map[string]*Set{
	"empty":   NewSet(func(byte) bool { return false }),
	"all":     NewSet(func(byte) bool { return true }),
	"digits":  NewSet(func(c byte) bool { return '0' <= c && c <= '9' }),
	"column":  NewSet(func(c byte) bool { return c&15 == 5 }),
	"no NUL":  NewSet(func(c byte) bool { return c != 0 }),
	"no 0x7F": NewSet(func(c byte) bool { return c != 0x7F }),
	"path":    NewSet(func(c byte) bool { return c > ' ' && c != '?' && c != '#' && c != '%' && c < 0x7F }),
}

// TestTwin is shown as skipped without vectors: the methods then are the
// loops that the tests compare them with, so the other tests would pass
// whatever the methods do.
func TestTwin(t *testing.T) {
	if !vector {
		t.Skip("skipped: comparing vectors with loops; it needs a processor with AVX2, and GODEBUG without cpu.avx2=off")
	}
}

// TestSet: a set has the bytes that it was made of, wherever they stand.
func TestSet(t *testing.T) {
	for name, s := range sets {
		for c := range 256 {
			for _, n := range []int{1, 31, 32, 33, 34, 63, 64, 65, 100} {
				check(t, name, s, full(n, s, byte(c)), 1)
			}
		}
	}
}

// full returns n bytes of s, or of zeros if it is empty, with c in the middle.
func full(n int, s *Set, c byte) []byte {
	text := make([]byte, n)
	for b := range 128 {
		if s.table[b] && b != '.' {
			for i := range text {
				text[i] = byte(b)
			}
			break
		}
	}
	text[n/2] = c
	return text
}

func check(t *testing.T, name string, s *Set, text []byte, i int) {
	t.Helper()
	i = min(i, len(text))
	checkMarks(t, name, s, text)
	checkPathEnd(t, name, s, text)
	checkChart(t, name, s, text)
	if got, want := s.End(text, i), s.slowEnd(text, i); got != want {
		t.Fatalf("%s: End(%q, %d) = %d, want %d", name, text, i, got, want)
	}
	if i == 0 {
		return
	}
	checkSlashEnd(t, name, s, text, i)
}

// checkPathEnd compares PathEnd with a loop.
func checkPathEnd(t *testing.T, name string, s *Set, text []byte) {
	t.Helper()
	if !s.table['/'] || len(text) == 0 {
		return
	}
	text = append([]byte{'/'}, text...)
	text = text[:len(text):len(text)]
	want := s.slowPathEnd(text)
	if got := s.PathEnd(text); got != want {
		t.Fatalf("%s: PathEnd(%q) = %d, want %d", name, text, got, want)
	}
}

// checkChart compares Chart with a loop.
func checkChart(t *testing.T, name string, s *Set, text []byte) {
	t.Helper()
	text = text[:min(len(text), 64)]
	a, b, outside := s.Chart(text, '/', '.')
	if x, y, z := s.slowChart(text, '/', '.'); a != x || b != y || outside != z {
		t.Fatalf("%s: Chart(%q) = %b, %b, %b, want %b, %b, %b", name, text, a, b, outside, x, y, z)
	}
}

// checkMarks compares Mark with a loop, in memory that held other marks.
func checkMarks(t *testing.T, name string, s *Set, text []byte) {
	t.Helper()
	used := Marks{1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1}
	m := s.Mark(used, text)
	checkEnd(t, name, text, m)
	for i := range len(text) + 1 {
		if got, want := m.Next(i), s.slowEnd(text, i); got != want {
			t.Fatalf("%s: Next(%d) = %d for the marks of %q, want %d", name, i, got, text, want)
		}
	}
}

// checkEnd checks that the last mark is at the end of the text.
func checkEnd(t *testing.T, name string, text []byte, m Marks) {
	t.Helper()
	last := len(m) - 2
	if m[last]>>(len(text)&63) != 1 || m[last+1] != 0 {
		t.Fatalf("%s: %d, %d bits after the end of %q", name, m[last], m[last+1], text)
	}
}

// checkSlashEnd compares SlashEnd with a loop.
func checkSlashEnd(t *testing.T, name string, s *Set, text []byte, i int) {
	t.Helper()
	want := i
	for want < len(text) && s.table[text[want]] && !(text[want] == '/' && text[want-1] == '/') {
		want++
	}
	if got := s.SlashEnd(text, i); got != want && got >= 0 {
		t.Fatalf("%s: SlashEnd(%q, %d) = %d, want %d", name, text, i, got, want)
	}
}

// TestEveryBegin: the answer is that of the slow loop for each length and each
// beginning, with the text at the end of its allocation.
func TestEveryBegin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 140 {
		buf := make([]byte, 140)
		text := buf[140-n:]
		for range 4 {
			for i := range text {
				text[i] = "abc/./..-?%\x80"[min(rnd.IntN(40), 11)]
			}
			for i := range n + 1 {
				check(t, "path", sets["path"], text, i)
			}
		}
	}
}

// FuzzSet: the vectors and the loop agree on any text and any set.
func FuzzSet(f *testing.F) {
	f.Add([]byte("http://www.example.com/a/b/./index.html?q=1"), 22, uint64(1))
	f.Fuzz(func(t *testing.T, text []byte, i int, seed uint64) {
		if i < 0 || i > len(text) {
			return
		}
		rnd := rand.New(rand.NewPCG(seed, 3))
		few := rnd.IntN(20)
		s := NewSet(func(byte) bool { return rnd.IntN(20) >= few })
		check(t, "any", s, text, i)
	})
}

func BenchmarkEnd(b *testing.B) {
	text := []byte("https://www.example.com/associations2/index.html?id=4711&lang=en")
	for name, f := range map[string]func([]byte, int) int{"vector": sets["path"].End, "loop": sets["path"].slowEnd} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(text, 23)
			}
		})
	}
}
