package endtoend

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A burst is an input in which a broker refuses long runs of records, one after the
// other, because they are too large: many batches in which no record is accepted.
type burst struct {
	lines []string
	long  int
}

// newBurst returns an input with n bursts of 10 to 200 large records, between good
// ones. With keys, the records are duplicates of each other by K2, which ignores the
// parameter that makes them large: some keys come first in a large record.
func newBurst(rng *rand.Rand, n int, keys bool) *burst {
	b := &burst{}
	add := func(more string) {
		id := len(b.lines)
		if keys {
			id = rng.IntN(1 + len(b.lines)/2)
		}
		b.lines = append(b.lines, fmt.Sprintf("http://h.example/%06d%s", id, more))
	}
	for range n {
		for range 10 + rng.IntN(190) {
			add("?utm_source=" + strings.Repeat("x", 3000))
			b.long++
		}
		for range 1 + rng.IntN(300) {
			add("")
		}
	}
	return b
}

func (b *burst) write(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.log"), []byte(strings.Join(b.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRefusedBursts: bursts of records that a broker refuses for their size go to the
// dead letter, however long they are, and their lane reaches the end of the input. With
// dedupe, no record may vanish because its first was refused: a key is in the output
// once, or else each of its records is a dead letter.
func TestRefusedBursts(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) *refuser{
		"kafka":     func(t *testing.T) *refuser { return onFake(t, "max.message.bytes", true) },
		"jetstream": onStream,
	} {
		for _, keys := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s dedupe=%t", name, keys), func(t *testing.T) {
				t.Parallel()
				n := rounds(t, 3, 50)
				b := newBurst(rand.New(rand.NewPCG(32, 13)), n, keys)
				r, dir := make(t), b.write(t)
				edits := []string{"bytes: 4KiB", "bytes: 16KiB"} // several large records in a batch
				if keys {
					edits = append(edits, "codec: {", "dedupe: {by: fetch, scope: lane}\ncodec: {")
				}
				p := startRefused(t, dir, r, "dead-letter", edits...)
				p.ends(0)
				accepted, letters := r.read(), p.letters()
				t.Logf("figure: %s, dedupe %t: %d bursts, %d of %d records too large; %d records in the output, %d dead letters",
					name, keys, n, b.long, len(b.lines), len(accepted), len(letters))
				b.judge(t, accepted, letters)
			})
		}
	}
}

// judge compares the output and the dead letters with the input, by key.
func (b *burst) judge(t *testing.T, accepted, letters []string) {
	t.Helper()
	count := func(lines []string) map[string]int {
		m := map[string]int{}
		for _, line := range lines {
			key, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "?")
			m[key]++
		}
		return m
	}
	out, dead := count(accepted), count(letters)
	for key, n := range count(b.lines) {
		if out[key] != 1 && (out[key] != 0 || dead[key] != n) {
			t.Errorf("%s has %d records: %d are in the output, %d in the dead letters", key, n, out[key], dead[key])
		}
		delete(out, key)
	}
	if len(out) > 0 {
		t.Errorf("not in the input: %v", out)
	}
	if len(letters) < b.long/2 {
		t.Errorf("only %d dead letters of %d large records", len(letters), b.long)
	}
}
