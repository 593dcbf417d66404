package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// quotedJob returns the job of a table without a header whose quoted cells span at most
// longest bytes.
func quotedJob(t *testing.T, longest int) *record.Job {
	t.Helper()
	n, err := codec.New(codec.Profiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	j, err := record.New(record.Config{Format: "csv", URLField: "1", NoHeader: true, MaxQuoted: longest, Normalizer: n})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// quotedText returns rows of which some have quoted cells that end, and some that do not.
func quotedText(size int) string {
	var text strings.Builder
	for text.Len() < size {
		switch rand.IntN(12) {
		case 0:
			text.WriteString("\"o,p\n")
		case 1:
			text.WriteString("\"a\nb\",\"c\"\"\n\"\r\n")
		case 2:
			text.WriteString("x,\"" + strings.Repeat("y\n", rand.IntN(50)) + "\",z\n")
		default:
			text.WriteString(strings.Repeat("r", rand.IntN(30)) + ",s\n")
		}
	}
	if rand.IntN(2) == 0 {
		text.WriteString("\"the end")
	}
	return text.String()
}

// recordsOf returns the records of a text.
func recordsOf(j *record.Job, text []byte) (all []string) {
	for w := j.NewWorker(); len(text) > 0; {
		n := w.Next(text)
		all = append(all, string(text[:n]))
		text = text[n:]
	}
	return all
}

// TestOpenQuoteRoads reads tables with open quotes in every way that a text can take, and
// checks that the records and the verdict do not depend on it: at once, in small batches,
// from a pipe, compressed, at a grid, and from any position on.
func TestOpenQuoteRoads(t *testing.T) {
	for round := range 40 {
		const maxRecord = 300
		j := quotedJob(t, 80)
		framing := j.Framing().(quoteFraming)
		text := quotedText(4000)
		want := recordsOf(j, []byte(text))
		first, number := framing.OpenQuotes([]byte(text))
		dir := write(t, map[string]string{"a.csv": text, "a.csv.gz": gz(t, text)})
		for name, cfg := range map[string]Config{
			"file": {Paths: []string{filepath.Join(dir, "a.csv")}},
			"gzip": {Paths: []string{filepath.Join(dir, "a.csv.gz")}},
			"pipe": {Paths: []string{"-"}, Stdin: onlyRead{strings.NewReader(text)}},
		} {
			cfg.Framing, cfg.MaxRecord = framing, maxRecord
			s, rt := run(t, cfg)
			var got []string
			for _, b := range rt.Emitted() {
				got = append(got, recordsOf(j, b.Bytes)...)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %q, want %q", name, got, want)
			}
			v := s.Reports()[0].Verdict
			if number == 0 && v.Kind != compress.OK {
				t.Fatalf("%s: %v", name, v)
			}
			line := fmt.Sprintf("line %d of", strings.Count(text[:first], "\n")+1)
			if number > 0 && (v.Kind != compress.OpenQuote || v.Offset != int64(first) || !strings.Contains(v.Detail, line) ||
				number > 1 && !strings.Contains(v.Detail, fmt.Sprintf("(%d such", number))) {
				t.Fatalf("%s: %v, want %d at %d, %s", name, v, number, first, line)
			}
		}
		const grid = 64
		limit := recordLimit(framing, maxRecord)
		batches := cutAll(framing, text, grid, limit, 0, false)
		var got []string
		for i, b := range batches {
			if b.piece != engine.Whole {
				t.Fatalf("round %d: piece %+v", round, b)
			}
			got = append(got, recordsOf(j, []byte(text[b.off:b.off+int64(b.size)]))...)
			if again := cutAll(framing, text, grid, limit, b.off, false); !slices.Equal(again, batches[i:]) {
				t.Fatalf("round %d, from batch %d: %s", round, i, firstDifference(again, batches[i:]))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("grid: %q, want %q", got, want)
		}
	}
}

// TestOpenQuoteRestart checks that a checkpoint holds the open quotes of a file that is
// followed, and that a restart adds to them.
func TestOpenQuoteRestart(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.csv")
	row := strings.Repeat("r,s\n", 100)
	set := quick(filepath.Join(dir, "*"))
	framing := func(c *WatchConfig) { c.Framing = quotedJob(t, 80).Framing() }
	sink := &shelf{}
	var text strings.Builder
	for round := range 3 {
		more := row + "\"o,p\n" + row
		text.WriteString(more)
		put(t, path, more)
		d := start(t, data, set, sink, framing)
		until(t, "a checkpoint of all lines", func() bool {
			e := d.store.Entries("file")
			return len(e) == 1 && e[0].Offset == int64(len(text.String()))
		})
		o := d.store.Entries("file")[0].Open
		if o == nil || o.Line != 101 || o.Offset != int64(len(row)) || o.Number != int64(round+1) {
			t.Errorf("round %d: %+v", round, o)
		}
		d.kill()
	}
	if n := bytes.Count([]byte(text.String()), newline); sink.count() != n {
		t.Errorf("%d lines, want %d", sink.count(), n)
	}
}
