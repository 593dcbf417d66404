package scan

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// checkCut compares Cut, with vectors and without them, with a loop.
func checkCut(t *testing.T, text []byte) (gaveUp bool) {
	t.Helper()
	defer func(has bool) { vectorCLMUL = has }(vectorCLMUL)
	want, wide, bad := slowCut(text)
	for range 2 {
		if n, spans, gaveUp := Cut(text[:len(text):len(text)], '"', ','); n != want || gaveUp != bad || wide && !spans || spans && bytes.IndexByte(text, '"') < 0 {
			t.Fatalf("Cut(%q) = %d, %v, %v, want %d, %v, %v", text, n, spans, gaveUp, want, wide, bad)
		}
		vectorCLMUL = false
	}
	return bad
}

// slowCut is Cut, and spans is that of the n bytes.
func slowCut(text []byte) (n int, spans, gaveUp bool) {
	inside, end, within := false, 0, false
	for i, c := range text {
		if i%64 == 0 {
			n, spans = end, within
		}
		switch {
		case c == '"':
			if inside = !inside; inside && i > 0 && bytes.IndexByte([]byte("\",\n"), text[i-1]) < 0 {
				return n, spans, true
			}
		case c == '\n' && inside:
			within = true
		case c == '\n':
			end = i + 1
		}
	}
	return end, within, false
}

func TestCut(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	gaveUp := 0
	for range 20_000 {
		text := make([]byte, rnd.IntN(300))
		for i := range text {
			text[i] = "aaaaaa,,\"\n\xff"[rnd.IntN(11)]
		}
		if rnd.IntN(2) == 0 { // no other quotes than those around cells
			text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`"`), nil), []byte(","), []byte(`,"b,""c"`+"\n"))
		}
		if checkCut(t, text) {
			gaveUp++
		}
	}
	if gaveUp == 0 || gaveUp == 20_000 {
		t.Errorf("Cut gave up on %d texts", gaveUp)
	}
}

func FuzzCut(f *testing.F) {
	f.Add([]byte("\"a,\n\",\"b\"\"\"\nc,d\n"))
	f.Fuzz(func(t *testing.T, text []byte) { checkCut(t, text) })
}
