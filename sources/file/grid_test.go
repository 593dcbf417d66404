package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// gridLines cuts at line ends.
type gridLines struct{}

func (gridLines) Cut(block []byte) int { return bytes.LastIndexByte(block, '\n') + 1 }
func (gridLines) Head([]byte) int      { return 0 }

// gridQuoted cuts at line ends outside quotes.
type gridQuoted struct{ gridLines }

func (gridQuoted) Cut(block []byte) (end int) {
	open := false
	for i, c := range block {
		switch {
		case c == '"':
			open = !open
		case c == '\n' && !open:
			end = i + 1
		}
	}
	return end
}

// A gridBatch is a batch made by a cutter.
type gridBatch struct {
	off   int64
	size  int
	piece engine.Piece
}

// cutAll cuts text from a position on, with random read and arena sizes.
func cutAll(framing Framing, text string, grid int64, maxRecord int, from int64, inside bool) (all []gridBatch) {
	c := cutter{framing: framing, maxRecord: maxRecord, grid: grid, off: from, oversize: inside}
	rest := text[from:]
	for again := true; again; {
		b := &engine.Batch{In: make([]byte, 0, 1+rand.IntN(3*int(grid)))}
		c.begin(b)
		n := 0
		for {
			if n = c.room(b); n > 0 {
				break
			}
			k := min(1+rand.IntN(2*int(grid)), cap(b.In)-len(b.In), len(rest))
			b.In, rest = append(b.In, rest[:k]...), rest[k:]
			if rest == "" && (k == 0 || rand.IntN(2) == 0) {
				n, again = c.rest(b, true)
				break
			}
		}
		c.tail = append(c.tail, b.In[n:]...)
		if n > 0 {
			all = append(all, gridBatch{c.off, n, b.Piece})
		}
		c.oversize = b.Piece == engine.First || b.Piece == engine.Middle
		c.off += int64(n)
	}
	return all
}

// TestGrid checks that batch ends depend on the text alone, not on read sizes,
// arenas or the batch at which reading began.
func TestGrid(t *testing.T) {
	const grid = 64
	for run := range 600 {
		maxRecord := []int{20, 64, 150, 400}[run%4]
		var text strings.Builder
		for text.Len() < 4000 {
			n := rand.IntN(40)
			if rand.IntN(15) == 0 {
				n = rand.IntN(700)
			}
			line := strings.Repeat("x", n)
			if run%3 == 0 && n > 2 && rand.IntN(3) == 0 {
				line = `"` + line[:n/2] + "\n" + line[n/2:] + `"`
			}
			text.WriteString(line + "\n")
		}
		if rand.IntN(2) == 0 {
			text.WriteString("no end")
		}
		framing := Framing(gridLines{})
		if run%3 == 0 {
			framing = gridQuoted{}
		}
		want := cutAll(framing, text.String(), grid, maxRecord, 0, false)
		at, longest := int64(0), 0
		for _, b := range want {
			if b.off != at || b.size == 0 {
				t.Fatalf("run %d: gap or empty batch at %d: %+v", run, at, b)
			}
			at += int64(b.size)
			longest = max(longest, b.size)
		}
		if at != int64(text.Len()) || longest > grid+maxRecord+1 {
			t.Fatalf("run %d: %d of %d bytes, the longest batch has %d", run, at, text.Len(), longest)
		}
		for try := range 4 {
			i := 0
			if try > 0 {
				i = rand.IntN(len(want))
			}
			inside := want[i].piece == engine.Middle || want[i].piece == engine.Last
			got := cutAll(framing, text.String(), grid, maxRecord, want[i].off, inside)
			if !slices.Equal(got, want[i:]) {
				t.Fatalf("run %d, maxRecord %d, from batch %d: %s", run, maxRecord, i, firstDifference(got, want[i:]))
			}
		}
		for _, b := range want[:len(want)-1] {
			next := (b.off/grid + 1) * grid
			if end := b.off + int64(b.size); b.piece == engine.Whole && end >= next {
				first := framing.Cut([]byte(text.String()[b.off:end]))
				if first != b.size {
					t.Fatalf("run %d: %+v does not end with a record", run, b)
				}
			}
		}
	}
}

func firstDifference(got, want []gridBatch) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%+v, want %+v", got[i], want[i])
		}
	}
	return fmt.Sprintf("%d batches, want %d", len(got), len(want))
}
