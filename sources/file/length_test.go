package file

import (
	"bytes"
	"encoding/binary"
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

// archiveForm is a format of web archives.
type archiveForm struct {
	format string
	header func(number, length int) string // of a record, with the length of its block
	end    string                          // after the block
	trap   string                          // text in a block that looks like a record
	open   bool                            // the last record may lack its end
}

var archiveForms = []archiveForm{
	{"warc", printed("WARC/1.0\r\nX-Number: %d\r\nContent-Length: %d\r\n\r\n"), "\r\n\r\n", "\r\n\r\nWARC/1.0\r\n\r\n", false},
	{"arc", printed("http://example.com/%d 192.0.2.1 20080430204825 text/plain %d\n"), "\n", "\nhttp://h/ ::1 20080430204825 a 9999\n", true},
	{"journal-export", func(number, length int) string {
		return fmt.Sprintf("NUMBER=%d\nDATA\n%s", number, binary.LittleEndian.AppendUint64(nil, uint64(length)))
	}, "\nEND=\n\n", "\n\nURL=x\n\n", false},
}

// printed returns a function that formats a header.
func printed(layout string) func(number, length int) string {
	return func(number, length int) string { return fmt.Sprintf(layout, number, length) }
}

// framing returns the framing of the format.
func (a archiveForm) framing(t testing.TB) lengthFraming {
	t.Helper()
	p, _ := codec.Lookup("equiv")
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	j, err := record.New(record.Config{Format: a.format, URLField: a.urlField(), Normalizer: n})
	if err != nil {
		t.Fatal(err)
	}
	return j.Framing().(lengthFraming)
}

// urlField returns the field with the URL, if the format needs its name.
func (a archiveForm) urlField() string {
	if a.format == "journal-export" {
		return "URL"
	}
	return ""
}

// begins returns the beginning of a record.
func (a archiveForm) begins(number int) string {
	head, _, _ := strings.Cut(a.header(number, 0), fmt.Sprint(number))
	return fmt.Sprint(head, number)
}

// archive returns n records of up to size bytes, with some damaged ones if
// requested, and the offsets of the records. The blocks contain text that looks
// like records.
func (a archiveForm) archive(rnd *rand.Rand, n, size int, damaged bool) (text string, begins map[int64]bool) {
	var b strings.Builder
	begins = map[int64]bool{0: true}
	for i := range n {
		block := make([]byte, 1+rnd.IntN(size))
		for i := range block {
			block[i] = byte(rnd.IntN(256))
		}
		length := len(block)
		if damaged && i%7 == 3 {
			block[0], block[length-1] = 'x', 'x' // otherwise a wrong length can be right
			if length += 2*(i%2) - 1; i%3 == 0 {
				length = 0
			}
		} else if length > 50 {
			copy(block[10:], a.trap)
		}
		fmt.Fprintf(&b, "%s%s%s", a.header(i, length), block, a.end)
		begins[int64(b.Len())] = true
	}
	return b.String(), begins
}

// cutLengths cuts text from a batch on, with random read and arena sizes. It
// returns the batches and, for each, how much of the current record is left
// after it.
func cutLengths(f Framing, text string, grid int64, maxRecord int, from gridBatch, left int64) (all []gridBatch, lefts []int64, c cutter) {
	c = cutter{framing: f, maxRecord: maxRecord, grid: grid, off: from.off, left: left, begun: -1,
		oversize: from.piece == engine.Middle || from.piece == engine.Last}
	rest := text[from.off:]
	for again := true; again; {
		b := &engine.Batch{In: make([]byte, 0, 1+rand.IntN(512))}
		c.begin(b)
		n := 0
		for {
			if n = c.room(b); n > 0 {
				break
			}
			k := min(1+rand.IntN(128), cap(b.In)-len(b.In), len(rest))
			b.In, rest = append(b.In, rest[:k]...), rest[k:]
			if rest == "" && (k == 0 || rand.IntN(2) == 0) {
				n, again = c.rest(b, true)
				break
			}
		}
		c.tail = append(c.tail, b.In[n:]...)
		if b.In = b.In[:n]; n > 0 {
			all = append(all, gridBatch{c.off, n, b.Piece})
			c.follow(b)
			lefts = append(lefts, c.left)
		}
		c.oversize = b.Piece == engine.First || b.Piece == engine.Middle
		c.off += int64(n)
	}
	return all, lefts, c
}

// TestLengths checks that batches of records with lengths end at record ends,
// even after an oversize or damaged record. With a grid, their ends depend on
// the text alone.
func TestLengths(t *testing.T) {
	for _, a := range archiveForms {
		t.Run(a.format, func(t *testing.T) { testLengths(t, a) })
	}
}

func testLengths(t *testing.T, a archiveForm) {
	f := a.framing(t)
	rnd := rand.New(rand.NewPCG(7, 7))
	for run := range 400 {
		maxRecord := []int{100, 200, 1000}[run%3]
		grid := []int64{0, 64, 300}[run/3%3]
		damaged := run%2 == 1
		text, begins := a.archive(rnd, 30, 400, damaged)
		all, lefts, c := cutLengths(f, text, grid, maxRecord, gridBatch{}, 0)
		at := int64(0)
		for _, b := range all {
			if b.off != at || b.size == 0 {
				t.Fatalf("run %d: gap or empty batch at %d: %+v", run, at, b)
			}
			at += int64(b.size)
			begin := b.piece == engine.Whole || b.piece == engine.First
			end := b.piece == engine.Whole || b.piece == engine.Last
			if begin && !begins[b.off] || end && !begins[at] {
				t.Fatalf("run %d, maxRecord %d, grid %d: %+v does not begin or end with a record", run, maxRecord, grid, b)
			}
		}
		if at != int64(len(text)) || c.cutShort != nil {
			t.Fatalf("run %d: %d of %d bytes, cut short: %t", run, at, len(text), c.cutShort != nil)
		}
		i := rnd.IntN(len(all))
		left := int64(0)
		if i > 0 {
			left = lefts[i-1]
		}
		got, _, _ := cutLengths(f, text, grid, maxRecord, all[i], left)
		if end := got[len(got)-1]; end.off+int64(end.size) != int64(len(text)) || grid > 0 && !slices.Equal(got, all[i:]) {
			t.Fatalf("run %d, maxRecord %d, grid %d, from batch %d: %s", run, maxRecord, grid, i, firstDifference(got, all[i:]))
		}
	}
}

// TestLengthsCut checks that a stream that ends within a record is detected.
func TestLengthsCut(t *testing.T) {
	for _, a := range archiveForms {
		t.Run(a.format, func(t *testing.T) { testLengthsCut(t, a) })
	}
}

func testLengthsCut(t *testing.T, a archiveForm) {
	f := a.framing(t)
	text, begins := a.archive(rand.New(rand.NewPCG(1, 1)), 6, 50, false) // without traps, which may be records that are cut
	last := int64(0)
	for end := 1; end <= len(text); end++ {
		for _, grid := range []int64{0, 64} {
			for _, maxRecord := range []int{80, 4000} {
				_, _, c := cutLengths(f, text[:end], grid, maxRecord, gridBatch{}, 0)
				v := c.cutVerdict(compress.Verdict{}, compress.Plain, int64(end))
				whole := begins[int64(end)] || a.open && begins[int64(end+len(a.end))]
				if (v.Kind == compress.OK) != whole {
					t.Fatalf("%d of %d bytes, maxRecord %d, grid %d: %v", end, len(text), maxRecord, grid, v)
				} else if !whole && !strings.Contains(v.Detail, fmt.Sprintf("begins at byte %d of", last)) {
					t.Fatalf("%d of %d bytes: %v", end, len(text), v)
				}
			}
		}
		if begins[int64(end)] {
			last = int64(end)
		}
	}
}

// TestCrashLengths kills a daemon repeatedly while it reads an archive, also
// within oversize records. It resumes at a record, or within one.
func TestCrashLengths(t *testing.T) {
	for _, a := range archiveForms {
		testCrashLengths(t, a)
	}
}

func testCrashLengths(t *testing.T, a archiveForm) {
	rnd := rand.New(rand.NewPCG(9, 9))
	text, begins := a.archive(rnd, 300, 40<<10, false)
	for name, content := range map[string]string{"a." + a.format: text, "a." + a.format + ".gz": members(t, compress.Gzip, text, 200)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(5, 5))
			dir, data := t.TempDir(), t.TempDir()
			put(t, filepath.Join(dir, name), content)
			set := batch(dir)
			set.RestartPointEvery = 256 << 10
			sink := &shelf{exact: true}
			pieces := 0
			sink.onBatch = func(b *engine.Batch) {
				end := b.Off + int64(len(b.In))
				if b.Piece != engine.Whole {
					pieces++
				}
				if (b.Piece == engine.Whole || b.Piece == engine.First) && !begins[b.Off] || (b.Piece == engine.Whole || b.Piece == engine.Last) && !begins[end] {
					t.Errorf("a batch from %d to %d (%d) does not begin or end with a record", b.Off, end, b.Piece)
				}
			}
			framing := func(c *WatchConfig) { c.Framing, c.MaxRecord = a.framing(t), 20<<10 }
			for range 8 {
				limit := rnd.IntN(strings.Count(text, "\n"))
				hit := make(chan struct{}, 1)
				sink.full = func(n int) {
					if n >= limit {
						select {
						case hit <- struct{}{}:
						default:
						}
					}
				}
				d := start(t, data, set, sink, framing)
				select {
				case <-hit:
					d.kill()
				case err := <-d.done:
					d.done <- err
					d.wait()
				}
			}
			sink.full = nil
			d := start(t, data, set, sink, framing)
			d.wait()
			if got := strings.Join(sink.lines, ""); got != text {
				t.Errorf("%d bytes of %d, first difference at %d", len(got), len(text), differsAt(got, text))
			}
			if pieces == 0 {
				t.Error("no record was emitted in pieces")
			}
		})
	}
}

// differsAt returns the offset of the first difference between a and b.
func differsAt(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestLengthsDamaged checks that an archive that ends within a record is
// damaged, and that the report contains the offset of the record.
func TestLengthsDamaged(t *testing.T) {
	for _, a := range archiveForms {
		t.Run(a.format, func(t *testing.T) { testLengthsDamaged(t, a) })
	}
}

func testLengthsDamaged(t *testing.T, a archiveForm) {
	t.Parallel()
	text, _ := a.archive(rand.New(rand.NewPCG(3, 3)), 10, 300, false)
	cut := text[:len(text)-3]
	dir, data := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "a.log"), cut)
	put(t, filepath.Join(dir, "b.log.gz"), gz(t, cut))
	put(t, filepath.Join(dir, "c.log"), text)
	sink := &shelf{}
	d := start(t, data, batch(dir), sink, func(c *WatchConfig) { c.Framing = a.framing(t) })
	d.wait()
	if v := d.w.Stats().Verdicts; v["truncated"] != 2 || v["ok"] != 1 {
		t.Errorf("verdicts %v", v)
	}
	for _, r := range d.reports {
		if want := strings.LastIndex(text, a.begins(9)); r.Verdict.Damage() && !strings.Contains(r.Verdict.Detail, fmt.Sprint("begins at byte ", want)) {
			t.Errorf("%s: %v", r.Path, r.Verdict)
		}
	}
	if got := []byte(strings.Join(sink.lines, "")); bytes.Count(got, []byte(a.begins(9)[:len(a.begins(9))-1])) != 30 {
		t.Error("records are missing")
	}
}
