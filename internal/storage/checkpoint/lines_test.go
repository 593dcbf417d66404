package checkpoint

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// TestLines: lines holds what a map holds after the same changes, while entries are
// finished, change, and are removed.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	l, want := newLines(), map[string]string{}
	packed := 0
	for i := range 60_000 {
		id := fmt.Sprint(r.IntN(12_000))
		switch n := r.IntN(10); {
		case i > 40_000 && n > 1, n == 0: // most are removed at the end
			l.remove(id)
			delete(want, id)
		default:
			e := Entry{Source: "s", ID: id, Path: "a/\"state\":\"done\"", Line: int64(i) + 1, State: Done}
			if n == 1 {
				e.State = Reading
			}
			line, err := lineOf(e)
			if err != nil {
				t.Fatal(err)
			}
			if finished(id, line) != (e.State == Done) {
				t.Fatalf("finished(%s)", line)
			}
			l.set(id, line)
			want[id] = line
		}
		packed = max(packed, len(l.packed))
		if id = fmt.Sprint(r.IntN(12_000)); i%16 == 0 && (l.get(id) != want[id] || l.has(id) != (want[id] != "")) {
			t.Fatalf("change %d: entry %s is %q, want %q", i, id, l.get(id), want[id])
		}
		if i%5_000 == 0 && (!maps.Equal(maps.Collect(l.all()), want) || l.len() != len(want)) {
			t.Fatalf("change %d: %d entries, want %d", i, l.len(), len(want))
		}
	}
	if packed < 5*perBlock {
		t.Errorf("at most %d entries were packed", packed)
	}
}
