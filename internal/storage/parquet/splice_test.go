package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// eachFile runs a test with the files of testdata, which pyarrow, DuckDB, polars
// and fastparquet have written.
func eachFile(t *testing.T, test func(t *testing.T, file []byte)) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(names) < 13 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			test(t, b)
		})
	}
}

func open(t testing.TB, b []byte) *file {
	t.Helper()
	f, err := openFile(bytes.NewReader(b), int64(len(b)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// columnOf returns the values of the rows of a leaf, with their levels.
func columnOf(t testing.TB, f *file, leaf int) (rows []string) {
	t.Helper()
	for g := range f.groups {
		_, chunks, err := f.group(g)
		if err != nil {
			t.Fatal(err)
		}
		var s scratch
		r := f.readChunk(&chunks[leaf], &f.leaves[leaf], &s, 1<<30)
		r.resolve = true
		for {
			p, err := r.next()
			if errors.Is(err, io.EOF) {
				break
			}
			for i := 0; err == nil && p.typ != pageDictionary && i < p.n; i++ {
				var rep, def int
				var v []byte
				if rep, def, v, err = r.level(p); rep == 0 {
					rows = append(rows, "")
				}
				if def == r.leaf.maxDef {
					rows[len(rows)-1] += fmt.Sprintf("%d %d %q ", rep, def, v)
				} else {
					rows[len(rows)-1] += fmt.Sprintf("%d %d ", rep, def)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return rows
}

func leafAt(f *file, path string) int {
	return slices.IndexFunc(f.leaves, func(l leaf) bool { return l.path == path })
}

// changeURL is what the tests do with a URL. Some become equal.
func changeURL(u string) string {
	if u == "" {
		return u
	}
	return strings.ReplaceAll(strings.ToLower(u), "%7e", "~") + "#"
}

// spliceOf rewrites the column url of a file, without the rows that drop
// selects.
func spliceOf(t testing.TB, b []byte, drop func(row int) bool) ([]byte, error) {
	t.Helper()
	lines, err := text(b, "url")
	if err != nil {
		return nil, err
	}
	return spliceLines(b, lines, drop)
}

// spliceLines rewrites the rows of b whose URLs are lines, without those that drop selects.
func spliceLines(b []byte, lines string, drop func(row int) bool) ([]byte, error) {
	return rewrite(map[string][]byte{"f": b}, []string{"url"}, func(add adder) error {
		row := 0
		for line := range strings.Lines(lines) {
			url := string(tsv.AppendUnescaped(nil, []byte(strings.TrimSuffix(line, "\n"))))
			if drop == nil || !drop(row) {
				if err := add("f", int64(row), string(tsv.AppendEscaped(nil, []byte(changeURL(url))))+"\n"); err != nil {
					return err
				}
			}
			row++
		}
		return nil
	})
}

// TestSpliceCopies checks that everything but the changed column stays, to the
// byte.
func TestSpliceCopies(t *testing.T) {
	eachFile(t, func(t *testing.T, b []byte) {
		out, err := spliceOf(t, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, g := open(t, b), open(t, out)
		url := leafAt(f, "url")
		for i := range f.groups {
			_, before, _ := f.group(i)
			_, after, _ := g.group(i)
			for c := range before {
				x, y := &before[c], &after[c]
				if c == url {
					continue
				}
				if a, b := b[x.from:][:x.meta.int(7)], out[y.from:][:y.meta.int(7)]; !bytes.Equal(a, b) {
					t.Errorf("row group %d, column %s: bytes differ", i, f.leaves[c].path)
				}
				for _, ids := range [][]int16{{9, 10, 11, 14}} { // offsets
					x.meta.drop(ids...)
					y.meta.drop(ids...)
				}
				if !reflect.DeepEqual(x.meta, y.meta) {
					t.Errorf("row group %d, column %s: metadata differs", i, f.leaves[c].path)
				}
			}
		}
		f.meta.drop(4)
		g.meta.drop(4)
		if !reflect.DeepEqual(f.meta, g.meta) {
			t.Error("the footer differs")
		}
		checkURLs(t, f, g, nil)
		checkIndexes(t, out)
	})
}

// checkURLs checks the column url of g, which f was changed to.
func checkURLs(t *testing.T, f, g *file, drop func(row int) bool) {
	t.Helper()
	var want []string
	for i, row := range columnOf(t, f, leafAt(f, "url")) {
		if drop != nil && drop(i) {
			continue
		}
		var rep, def int
		var v string
		if n, _ := fmt.Sscanf(row, "%d %d %q", &rep, &def, &v); n == 3 {
			row = fmt.Sprintf("%d %d %q ", rep, def, changeURL(v))
		}
		want = append(want, row)
	}
	if got := columnOf(t, g, leafAt(g, "url")); !slices.Equal(got, want) {
		t.Errorf("URLs are\n%q, want\n%q", got, want)
	}
}

// checkIndexes checks with the library that the page index and the Bloom filters
// of the column url admit all of its values.
func checkIndexes(t *testing.T, b []byte) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	url, _ := f.Schema().Lookup("url")
	for g, group := range f.RowGroups() {
		chunk := group.ColumnChunks()[url.ColumnIndex]
		stats := f.Metadata().RowGroups[g].Columns[url.ColumnIndex].MetaData.Statistics
		ci, _ := chunk.ColumnIndex()
		oi, _ := chunk.OffsetIndex()
		pages := chunk.Pages()
		row, nulls := int64(0), int64(0)
		for n := 0; ; n++ {
			page, err := pages.ReadPage()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				if ci != nil && ci.NumPages() != n || oi != nil && oi.NumPages() != n {
					t.Errorf("row group %d has %d pages, its index another number", g, n)
				}
				break
			}
			values := make([]parquet.Value, page.NumValues())
			_, _ = page.Values().ReadValues(values)
			if oi != nil && oi.FirstRowIndex(n) != row {
				t.Errorf("row group %d, page %d starts at row %d, the index says %d", g, n, row, oi.FirstRowIndex(n))
			}
			if ci != nil && ci.NullCount(n) != page.NumNulls() {
				t.Errorf("row group %d, page %d has %d nulls, the index says %d", g, n, page.NumNulls(), ci.NullCount(n))
			}
			row, nulls = row+page.NumRows(), nulls+page.NumNulls()
			for _, v := range values {
				if v.IsNull() {
					continue
				}
				if ci != nil && (bytes.Compare(ci.MinValue(n).ByteArray(), v.ByteArray()) > 0 || bytes.Compare(ci.MaxValue(n).ByteArray(), v.ByteArray()) < 0) {
					t.Errorf("row group %d, page %d: %s is not within the index", g, n, v)
				}
				if stats.MaxValue != nil && (bytes.Compare(stats.MinValue, v.ByteArray()) > 0 || bytes.Compare(stats.MaxValue, v.ByteArray()) < 0) {
					t.Errorf("row group %d: %s is not within the statistics", g, v)
				}
				if filter := chunk.BloomFilter(); filter != nil {
					if ok, err := filter.Check(v); !ok || err != nil {
						t.Errorf("row group %d: %s is not in the Bloom filter: %v", g, v, err)
					}
				}
			}
		}
		if row != group.NumRows() || stats.MaxValue != nil && stats.NullCount != nulls {
			t.Errorf("row group %d has %d of %d rows, %d of %d nulls", g, row, group.NumRows(), nulls, stats.NullCount)
		}
	}
}

// TestSpliceDrops checks that all columns lose the same rows.
func TestSpliceDrops(t *testing.T) {
	for name, drop := range map[string]func(row int) bool{
		"third": func(row int) bool { return row%3 == 1 },
		"few":   func(row int) bool { return row == 17 || row == 205 },
		"most":  func(row int) bool { return row%50 != 7 },
		"group": func(row int) bool { return row >= 90 && row < 230 },
		"all":   func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			eachFile(t, func(t *testing.T, b []byte) {
				out, err := spliceOf(t, b, drop)
				if err != nil {
					t.Fatal(err)
				}
				f, g := open(t, b), open(t, out)
				checkURLs(t, f, g, drop)
				checkIndexes(t, out)
				for c, l := range f.leaves {
					if l.path == "url" {
						continue
					}
					var want []string
					for i, row := range columnOf(t, f, c) {
						if !drop(i) {
							want = append(want, row)
						}
					}
					if got := columnOf(t, g, c); !slices.Equal(got, want) {
						t.Errorf("column %s is\n%q, want\n%q", l.path, got, want)
					}
				}
			})
		})
	}
}

// TestSpliceSplits checks a page that must be split because its values grow.
func TestSpliceSplits(t *testing.T) {
	type page struct {
		URL string `parquet:"url,delta"`
		N   int    `parquet:"n"`
	}
	var rows []page
	for i := range 3000 {
		rows = append(rows, page{"a", i})
	}
	b := encode(t, rows, parquet.PageBufferSize(1<<20), parquet.MaxRowsPerRowGroup(3000))
	long := strings.Repeat("x", 10_000)
	out, err := rewrite(map[string][]byte{"f": b}, nil, func(add adder) error {
		for i := range 3000 {
			if err := add("f", int64(i), long+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[page](bytes.NewReader(out), int64(len(out)))
	if err != nil || len(got) != 3000 {
		t.Fatal(len(got), err)
	}
	for i, row := range got {
		if row.URL != long || row.N != i {
			t.Fatalf("row %d is %d, %d bytes", i, row.N, len(row.URL))
		}
	}
	checkIndexes(t, out)
}

// A lyingOutput returns other bytes than were written.
type lyingOutput struct{ output }

// ReadAt implements io.ReaderAt.
func (o *lyingOutput) ReadAt(p []byte, at int64) (int, error) {
	n, err := o.output.ReadAt(p, at)
	if i := int64(o.Len()/10) - at; i >= 0 && i < int64(n) {
		p[i] ^= 4
	}
	return n, err
}

// TestReadBack checks that the output is read before it is complete.
func TestReadBack(t *testing.T) {
	b, err := os.ReadFile("testdata/arrow-v1-gzip-plain.parquet")
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewRewriter(new(lyingOutput), func(string) (table.Input, error) {
		return table.Input{ReaderAt: bytes.NewReader(b), Closer: io.NopCloser(nil), Size: int64(len(b))}, nil
	}, "f", RewriterOptions{Columns: []string{"url"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if i%2 == 0 { // so that all columns are written and not copied
			err = errors.Join(err, w.Add("f", int64(i), []byte("http://h/\n")))
		}
	}
	if err := errors.Join(err, w.Close()); !errors.Is(err, errReadBack) {
		t.Errorf("error %v", err)
	}
}

// TestSpool checks a chunk that does not fit in memory.
func TestSpool(t *testing.T) {
	s := spool{dir: t.TempDir()}
	defer s.close()
	var want []byte
	for i := range 30 {
		piece := bytes.Repeat([]byte{byte(i)}, 900_001)
		if _, err := s.Write(piece); err != nil {
			t.Fatal(err)
		}
		want = append(want, piece...)
	}
	var got bytes.Buffer
	if err := s.copyTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d bytes, want %d: %v", got.Len(), len(want), err)
	}
	if s.f.File == nil || len(s.mem) > spoolMemory {
		t.Error("all is in memory")
	}
}

// TestBitFlips checks that damage in columns that are copied is found, as far as
// checksums and a reader of the values can notice it. Without checksums, many
// flipped bits make another valid value; TestParquetReaders compares with
// pyarrow.
func TestBitFlips(t *testing.T) {
	for name, least := range map[string]int{"arrow-index": 92, "arrow-v2-zstd": 45, "arrow-v1-gzip-plain": 80, "arrow-v1-snappy": 35} {
		b, err := os.ReadFile("testdata/" + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, b)
		rng := rand.New(rand.NewPCG(5, 6))
		found := 0
		for range 100 {
			_, chunks, _ := f.group(rng.IntN(len(f.groups)))
			c := rng.IntN(len(chunks))
			if f.leaves[c].path == "url" {
				c++
			}
			damaged := bytes.Clone(b)
			damaged[chunks[c].from+rng.Int64N(chunks[c].meta.int(7))] ^= 1 << rng.IntN(8)
			if _, err := text(damaged, "url"); err != nil {
				found++
			}
		}
		if found < least {
			t.Errorf("%s: %d of 100 flipped bits are found, want %d", name, found, least)
		}
	}
}

// TestDamageIsRead checks that the Text finds all damage, wherever it is, so that
// it becomes a verdict: an error of the Rewriter would fail the run. The Rewriter writes
// the rows before the damage.
func TestDamageIsRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	eachFile(t, func(t *testing.T, b []byte) {
		found, n := 0, 80
		footer := len(b) - 8 - int(binary.LittleEndian.Uint32(b[len(b)-8:]))
		for i := range n {
			damaged := bytes.Clone(b)
			at, bit := rng.IntN(len(b)), rng.IntN(8)
			if i%2 == 0 {
				at = footer + rng.IntN(len(b)-footer)
			}
			damaged[at] ^= 1 << bit
			lines, err := text(damaged, "url")
			if err != nil {
				found++
			}
			for _, drop := range []func(int) bool{nil, func(row int) bool { return row%3 == 1 }} {
				if err != nil && lines == "" {
					break
				}
				if _, err := spliceLines(damaged, lines, drop); err != nil {
					t.Errorf("bit %d of byte %d, rows dropped: %t: %v", bit, at, drop != nil, err)
				}
			}
		}
		if found == 0 || found == n {
			t.Errorf("%d of %d flipped bits are found", found, n)
		}
	})
}

// TestEncrypted checks that encrypted files are refused as such.
func TestEncrypted(t *testing.T) {
	b, err := os.ReadFile("testdata/polars.parquet")
	if err != nil {
		t.Fatal(err)
	}
	footer := bytes.Clone(b)
	copy(footer[len(b)-4:], "PARE")
	f := open(t, b)
	f.meta.setStruct(8, fields{})
	signed := append(bytes.Clone(b[:f.limit]), appendStruct(nil, f.meta)...)
	n := uint32(int64(len(signed)) - f.limit)
	signed = append(signed, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), 'P', 'A', 'R', '1')
	for _, b := range [][]byte{footer, signed} {
		_, err := text(b, "url")
		var e *compress.UnsupportedError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "encrypted") {
			t.Errorf("error %v", err)
		}
	}
}

// TestFootersSurvive checks that a footer that passes through the editor keeps
// its bytes, with fields that nobody knows.
func TestFootersSurvive(t *testing.T) {
	eachFile(t, func(t *testing.T, b []byte) {
		f := open(t, b)
		f.meta.setStruct(300, fields{{id: -4, typ: thriftDouble, raw: make([]byte, 8)}})
		once := appendStruct(nil, f.meta)
		again, n, err := readStruct(once)
		if err != nil || n != len(once) || !bytes.Equal(appendStruct(nil, again), once) {
			t.Errorf("%v", err)
		}
		f.meta.drop(300)
		if got := appendStruct(nil, f.meta); !bytes.Equal(got, b[f.limit:len(b)-8]) {
			t.Error("the footer differs")
		}
	})
}

// FuzzRewrite reads and rewrites damaged files, with and without dropped rows:
// each is an error or a file that can be read.
func FuzzRewrite(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.parquet")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, drop := range []func(int) bool{nil, func(row int) bool { return row%3 == 1 }} {
			out, err := spliceOf(t, b, drop)
			if err != nil {
				if strings.Contains(err.Error(), "cannot be decoded") || errors.Is(err, errReadBack) {
					t.Error(err)
				}
				continue
			}
			if _, err := text(out, "url"); err != nil {
				t.Errorf("the output cannot be read: %v", err)
			}
		}
	})
}
