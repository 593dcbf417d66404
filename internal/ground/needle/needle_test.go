package needle

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFind compares Find with a search for each text, of sets of up to 70 texts.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abAB@`\xC3"[r.IntN(7)]
		}
		return string(b)
	}
	hits := 0
	for range 3000 {
		var texts []string
		least := 1 + r.IntN(4)
		for range 1 + r.IntN(1+r.IntN(70)) {
			texts = append(texts, text(least+r.IntN(4)))
		}
		fold := r.IntN(2) == 0
		s := NewSet(texts, fold)
		for range 5 {
			in := text(r.IntN(20))
			wantAt, wantText := -1, -1
			for at := len(in); at >= 0; at-- {
				best := -1
				for i, text := range texts {
					if begins(in[at:], text, fold) && (best < 0 || len(text) > len(texts[best])) {
						best = i
					}
				}
				if best >= 0 {
					wantAt, wantText = at, best
				}
			}
			at, i := s.Find([]byte(in))
			if at != wantAt || i != wantText || s.In([]byte(in)) != (at >= 0) {
				t.Fatalf("%q in %q, fold %v: at %d, text %d, want %d, %d", texts, in, fold, at, i, wantAt, wantText)
			}
			if at >= 0 {
				hits++
			}
			for k, want := range []func(text string) bool{
				func(text string) bool { return begins(in, text, fold) },
				func(text string) bool { return len(in) >= len(text) && begins(in[len(in)-len(text):], text, fold) },
				func(text string) bool { return len(in) == len(text) && begins(in, text, fold) },
			} {
				found := false
				for _, text := range texts {
					found = found || want(text)
				}
				if got := s.At([]byte(in), k != 1, k != 0); got != found {
					t.Fatalf("%q at an end of %q, fold %v, case %d: %v", texts, in, fold, k, got)
				}
			}
		}
	}
	if hits < 3000 || hits > 14000 {
		t.Errorf("%d hits", hits)
	}
}

func begins(in, text string, fold bool) bool {
	if len(in) < len(text) {
		return false
	}
	lower := func(s string) string {
		return strings.Map(func(c rune) rune { return c }, string(bytes.Map(func(c rune) rune {
			if 'A' <= c && c <= 'Z' {
				return c + 32
			}
			return c
		}, []byte(s))))
	}
	if fold && !strings.Contains(in+text, "\xC3") {
		return lower(in[:len(text)]) == lower(text)
	}
	if fold {
		for i := range len(text) {
			a, b := in[i], text[i]
			if a != b && (a|32 != b|32 || a|32 < 'a' || a|32 > 'z') {
				return false
			}
		}
		return true
	}
	return in[:len(text)] == text
}

// TestMemo checks answers, and that a Memo stops and begins again.
func TestMemo(t *testing.T) {
	m := NewMemo()
	ask := func(i int) bool {
		text := fmt.Appendf(nil, "text %d", i)
		answer, known := m.Known(text)
		if known && answer != i {
			t.Fatalf("%s: %d", text, answer)
		}
		if !known {
			m.Put(text, i)
		}
		return known
	}
	if ask(1) || !ask(1) || ask(2) || !ask(1) {
		t.Error("a text is not remembered, or one that is new is")
	}
	for i := range 10 * window { // all are new
		ask(100 + i)
	}
	if m.pause == 0 || ask(1) || ask(1) {
		t.Error("a memo without use goes on")
	}
	for range rest * window {
		ask(1)
	}
	known := 0
	for range 100 {
		if ask(1) {
			known++
		}
	}
	if known < 99 {
		t.Errorf("after the pause, %d of 100 are known", known)
	}
	long := bytes.Repeat([]byte("x"), maxText+1)
	m.Known(long)
	m.Put(long, 1)
	if _, known := m.Known(long); known {
		t.Error("a long text is remembered")
	}
	if n := testing.AllocsPerRun(1000, func() { ask2(m, []byte("text 1")) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func ask2(m *Memo, text []byte) {
	if _, known := m.Known(text); !known {
		m.Put(text, 1)
	}
}
