package scan

import (
	"math/rand/v2"
	"testing"
)

// checkBlock compares the marks of a Block with loops, in memory that held other marks.
func checkBlock(t *testing.T, s *Set, text []byte) {
	t.Helper()
	defer func(has bool) { vector = has }(vector)
	for range 2 {
		b := NewBlock(func(c byte) bool { return s.table[c] }, '/')
		for _, m := range []*Marks{&b.Class, &b.Feeds, &b.Same} {
			*m = Marks{1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1}
		}
		b.Read(text)
		checkNext(t, b.Class, text, func(c byte) bool { return s.table[c] })
		checkNext(t, b.Feeds, text, func(c byte) bool { return c == '\n' })
		checkNext(t, b.Same, text, func(c byte) bool { return c == '/' || c == '\n' })
		vector = false
	}
}

// checkNext compares Next with a loop.
func checkNext(t *testing.T, m Marks, text []byte, marked func(c byte) bool) {
	t.Helper()
	want := len(text)
	for i := len(text); i >= 0; i-- {
		if i < len(text) && marked(text[i]) {
			want = i
		}
		if got := m.Next(i); got != want {
			t.Fatalf("Next(%d) = %d for the marks of %q, want %d", i, got, text, want)
		}
	}
}

func TestBlock(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		text := make([]byte, n)
		for i := range text {
			if text[i] = byte(rnd.IntN(256)); rnd.IntN(2) == 0 {
				text[i] = "abc/. 05\n"[rnd.IntN(9)]
			}
		}
		for _, s := range sets {
			checkBlock(t, s, text)
		}
	}
}

// TestMarkEnd: a mark at the end of a line is one of the class, not a line feed.
func TestMarkEnd(t *testing.T) {
	b := NewBlock(func(c byte) bool { return c == '\n' }, '"')
	b.Read([]byte("abc\r\nd\r\n"))
	b.MarkEnd(3)
	for i, want := range []int{3, 3, 3, 3, 4, 7, 7, 7, 8} {
		if b.Class.Next(i) != want || b.Same.Next(i) != want {
			t.Errorf("the mark after %d is at %d and %d, want %d", i, b.Class.Next(i), b.Same.Next(i), want)
		}
	}
	if n := b.Feeds.Next(0); n != 4 {
		t.Errorf("the line feed is at %d", n)
	}
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte("http://www.example.com/a/b/./index.html?q=1\nhttp://h/"))
	f.Fuzz(func(t *testing.T, text []byte) { checkBlock(t, sets["path"], text) })
}

func BenchmarkBlock(b *testing.B) {
	text := make([]byte, 16<<10)
	for i := range text {
		text[i] = "abcdefgh\"\\\n{},"[i*7%14]
	}
	block := NewBlock(func(c byte) bool { return c < ' ' || c == '"' || c == '\\' }, '"')
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		block.Read(text)
	}
}
