package scan

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestCutQuoted compares CutQuoted and MarkCells with loops.
func TestCutQuoted(t *testing.T) {
	if !CutsQuoted() {
		t.Skip("skipped: comparing vectors with loops; it needs a processor with AVX-512 and PCLMULQDQ, which GODEBUG does not turn off")
	}
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
		if checkQuoted(t, text) {
			gaveUp++
		}
	}
	if gaveUp == 0 || gaveUp == 20_000 {
		t.Errorf("CutQuoted gave up on %d texts", gaveUp)
	}
}

func FuzzCutQuoted(f *testing.F) {
	f.Add([]byte("\"a,\n\",\"b\"\"\"\nc,d\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if CutsQuoted() {
			checkQuoted(t, text)
		}
	})
}

// checkQuoted compares CutQuoted and MarkCells with loops for one text.
func checkQuoted(t *testing.T, text []byte) (gaveUp bool) {
	t.Helper()
	text = text[:len(text):len(text)]
	n, gaveUp := CutQuoted(text, '"', ',')
	if want, bad := slowCutQuoted(text); n != want || gaveUp != bad {
		t.Fatalf("CutQuoted(%q) = %d, %v, want %d, %v", text, n, gaveUp, want, bad)
	}
	used := Marks{1<<64 - 1, 1<<64 - 1}
	quotes, ends, size, bare := MarkCells(used, nil, text, '"', ',')
	line := text[:bytes.IndexByte(text, '\n')+1]
	want, bad := slowCutQuoted(line)
	if bad || want != len(line) {
		want = 0
	}
	if size != want {
		t.Fatalf("MarkCells found a line of %d bytes in %q, want %d", size, text, want)
	}
	if size == 0 {
		return gaveUp
	}
	body := line[:size-1]
	quotes.End(len(body))
	ends.End(len(body))
	checkNext(t, quotes, body, func(c byte) bool { return c == '"' })
	checkNextAt(t, ends, body, func(i int) bool { return body[i] == ',' && bytes.Count(body[:i], []byte(`"`))%2 == 0 })
	if bare != (bytes.IndexByte(body, '"') < 0) {
		t.Fatalf("MarkCells says that %q has quotes, or has none", body)
	}
	return gaveUp
}

// slowCutQuoted is CutQuoted.
func slowCutQuoted(text []byte) (n int, gaveUp bool) {
	inside, end := false, 0
	for i, c := range text {
		if i%64 == 0 {
			n = end
		}
		switch {
		case c == '"':
			if inside = !inside; inside && i > 0 && bytes.IndexByte([]byte("\",\n"), text[i-1]) < 0 {
				return n, true
			}
		case c == '\n' && !inside:
			end = i + 1
		}
	}
	return end, false
}
