package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// A visit has columns of several types around its URLs.
type visit struct {
	ID      int64             `parquet:"id,delta"`
	Request request           `parquet:"request"`
	Tags    []string          `parquet:"tags,list"`
	Price   *float64          `parquet:"price,optional"`
	Headers map[string]string `parquet:"headers"`
	OK      bool              `parquet:"ok"`
	Hash    [4]byte           `parquet:"hash"`
}

type request struct {
	URL      *string `parquet:"url,optional,dict"`
	Referrer string  `parquet:"referrer,zstd"`
}

// visits returns n rows.
func visits(n int) []visit {
	var rows []visit
	for i := range n {
		v := visit{ID: int64(i), OK: i%3 == 0, Hash: [4]byte{byte(i), byte(i >> 8)}, Headers: map[string]string{}}
		if i%4 != 3 {
			url := []string{"HTTP://Example.com/%7e", "http://h/a\tb\\c\nd", "", "http://h/" + strings.Repeat("x", i%500)}[i%4]
			v.Request.URL = &url
		}
		v.Request.Referrer = fmt.Sprintf("HTTP://r.example/%d", i%7)
		for k := range i % 4 {
			v.Tags = append(v.Tags, fmt.Sprintf("tag%d", k))
			v.Headers[fmt.Sprint("h", k)] = strings.Repeat("v", k)
		}
		if i%5 == 0 {
			price := float64(i) / 3
			v.Price = &price
		}
		rows = append(rows, v)
	}
	return rows
}

// encode returns a Parquet file of rows, with several row groups and pages.
func encode[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var file bytes.Buffer
	options = append(options, parquet.MaxRowsPerRowGroup(1000), parquet.PageBufferSize(2000), parquet.KeyValueMetadata("owner", "test"))
	w := parquet.NewGenericWriter[T](&file, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// text returns the Text of a file.
func text(file []byte, names ...string) (string, error) {
	t, err := OpenText(bytes.NewReader(file), int64(len(file)), names, Limits{Expands: true, Whole: true})
	if err != nil {
		return "", err
	}
	defer t.Close()
	out, err := io.ReadAll(t)
	return string(out), err
}

func TestText(t *testing.T) {
	for _, version := range []int{1, 2} {
		rows := visits(2500)
		file := encode(t, rows, parquet.DataPageVersion(version))
		got, err := text(file)
		if err != nil {
			t.Fatal(err)
		}
		both, err := text(file, "request.referrer", "request.url")
		if err != nil {
			t.Fatal(err)
		}
		var want, wantBoth strings.Builder
		for _, v := range rows {
			cell := ""
			if v.Request.URL != nil {
				cell = strings.NewReplacer("\t", `\t`, "\n", `\n`, `\`, `\\`).Replace(*v.Request.URL)
			}
			want.WriteString(cell + "\n")
			wantBoth.WriteString(v.Request.Referrer + "\t" + cell + "\n")
		}
		if got != want.String() || both != wantBoth.String() {
			t.Errorf("version %d: text differs", version)
		}
	}
}

func TestTextColumns(t *testing.T) {
	type two struct {
		URL  string `parquet:"url"`
		Link string `parquet:"link"`
		N    int64  `parquet:"n"`
	}
	file := encode(t, []two{{"a", "b", 1}})
	for _, c := range []struct {
		file  []byte
		names []string
		want  string
	}{
		{file, nil, "missing: name the column with the URL; the text columns are url, link"},
		{file, []string{"ulr"}, `no text column "ulr" in the file (did you mean "url"?)`},
		{file, []string{"n"}, `no text column "n" in the file`},
		{file, []string{"url", "url"}, `duplicate column "url"`},
		{file, []string{"a", "b", "c", "d"}, "at most 3 columns can be read"},
		{encode(t, visits(1)), []string{"tags.list.element"}, `no text column "tags.list.element" in the file`},
		{encode(t, []struct{ N int64 }{{1}}), nil, "the file has no text column"},
	} {
		_, err := text(c.file, c.names...)
		var e *table.ColumnError
		if !errors.As(err, &e) || err.Error() != c.want {
			t.Errorf("%v: got %v, want %s", c.names, err, c.want)
		}
	}
	if got, err := text(file, "link", "url"); got != "b\ta\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestTextDamaged checks that the rows before damage are read, and that the
// error has its place.
func TestTextDamaged(t *testing.T) {
	file := encode(t, visits(2500))
	want, err := text(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	chunk := f.Metadata().RowGroups[1].Columns[1].MetaData
	damaged := bytes.Clone(file)
	for i := range 40 {
		damaged[chunk.DataPageOffset+chunk.TotalCompressedSize/2+int64(i)] ^= 0x5a
	}
	got, err := text(damaged)
	if err == nil || !strings.Contains(err.Error(), "row group 2 of 3, column request.url, row 1") || !strings.Contains(err.Error(), "up to row 2500, are not read") {
		t.Errorf("got error %v", err)
	}
	if rows := strings.Count(got, "\n"); !strings.HasPrefix(want, got) || rows < 1000 || rows >= 2000 {
		t.Errorf("%d rows read, want 1000 to 1999", rows)
	}
	for _, n := range []int{0, 3, 4, 11, 12, len(file) / 2, len(file) - 1} {
		if _, err := text(file[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// mutate returns file with some bytes changed, half of the time near its end,
// where the index is.
func mutate(rng *rand.Rand, file []byte) []byte {
	file = bytes.Clone(file)
	for range 1 + rng.IntN(4) {
		at := rng.IntN(len(file))
		if rng.IntN(2) == 0 {
			at = len(file) - 1 - rng.IntN(min(1500, len(file)))
		}
		file[at] = byte(rng.Uint32())
	}
	return file
}

// TestMutated checks that no damage causes a panic, in a Text or a Rewriter.
func TestMutated(t *testing.T) {
	file := encode(t, visits(60))
	whole, err := text(file, "request.url")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	failed := 0
	for range 800 {
		damaged := mutate(rng, file)
		if _, err := text(damaged, "request.url"); err != nil {
			failed++
		}
		_, _ = rewrite(map[string][]byte{"f": damaged}, []string{"request.url"}, func(add adder) error {
			for i, line := range strings.SplitAfter(whole, "\n") {
				if err := add("f", int64(i), line); line != "" && err != nil {
					return err
				}
			}
			return nil
		})
	}
	if failed < 80 {
		t.Errorf("only %d of 800 damaged files are an error", failed)
	}
}

// An output is a file in memory that can be read back.
type output struct{ bytes.Buffer }

// ReadAt implements io.ReaderAt.
func (o *output) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(o.Bytes()).ReadAt(p, at)
}

// An adder is Rewriter.Add.
type adder func(name string, row int64, line string) error

// rewrite runs a Rewriter on files and returns its output. The first file is
// called f.
func rewrite(files map[string][]byte, names []string, fill func(adder) error) ([]byte, error) {
	open := func(name string) (table.Input, error) {
		file := files[name]
		return table.Input{ReaderAt: bytes.NewReader(file), Closer: io.NopCloser(nil), Size: int64(len(file))}, nil
	}
	var out output
	w, err := NewRewriter(&out, open, "f", RewriterOptions{Columns: names})
	if err != nil {
		return nil, err
	}
	err = fill(func(name string, row int64, line string) error {
		if err := w.Add(name, row, []byte(line)); err != nil {
			return err
		}
		if row%97 == 0 {
			return w.Flush()
		}
		return nil
	})
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// TestRewriter checks that a file that passes through a job has other URLs and
// the same rows otherwise, without those that are dropped.
func TestRewriter(t *testing.T) {
	file := encode(t, visits(2500))
	rows, err := parquet.Read[visit](bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"request.url", "request.referrer"}
	in, err := text(file, names...)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.New(codec.Profiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	job, err := record.New(record.Config{Format: table.Parquet, Formats: []record.Format{table.Format(table.Parquet)}, Normalizer: n})
	if err != nil {
		t.Fatal(err)
	}
	worker := job.NewWorker()
	normal := func(url string) string {
		var out []byte
		var st record.Stats
		out, _ = worker.Append(nil, nil, tsv.AppendEscaped(nil, []byte(url)), record.Position{}, &st)
		return string(tsv.AppendUnescaped(nil, out))
	}
	dropped := func(i int) bool { return i%11 == 5 || i >= 990 && i < 1010 }
	out, err := rewrite(map[string][]byte{"f": file}, names, func(add adder) error {
		var st record.Stats
		for i, line := range strings.SplitAfter(in, "\n") {
			if line == "" || dropped(i) {
				continue
			}
			rewritten, _ := worker.Append(nil, nil, []byte(line), record.Position{}, &st)
			for half := len(rewritten) / 2; len(rewritten) > 0; half = len(rewritten) { // as pieces of a long record
				if err := add("f", int64(i), string(rewritten[:half])); err != nil {
					return err
				}
				rewritten = rewritten[half:]
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []visit
	changed := 0
	for i, v := range rows {
		if dropped(i) {
			continue
		}
		if v.Request.URL != nil {
			url := normal(*v.Request.URL)
			if url != *v.Request.URL {
				changed++
			}
			v.Request.URL = &url
		}
		v.Request.Referrer = normal(v.Request.Referrer)
		want = append(want, v)
	}
	got, err := parquet.Read[visit](bytes.NewReader(out), int64(len(out)))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d rows, want %d: %v", len(got), len(want), err)
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("row %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	if changed < 500 {
		t.Errorf("only %d URLs changed", changed)
	}
	a, _ := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	b, _ := parquet.OpenFile(bytes.NewReader(out), int64(len(out)))
	if a.Schema().String() != b.Schema().String() {
		t.Errorf("schema is now\n%s", b.Schema())
	}
	if owner, _ := b.Lookup("owner"); owner != "test" {
		t.Error("metadata is lost")
	}
	if x, y := a.Metadata().RowGroups[0].Columns[2].MetaData.Codec, b.Metadata().RowGroups[0].Columns[2].MetaData.Codec; x != y {
		t.Errorf("compression %v is now %v", x, y)
	}
}

// TestRewriterInputs checks several inputs, and that their columns must agree.
func TestRewriterInputs(t *testing.T) {
	type page struct {
		URL string `parquet:"url"`
	}
	files := map[string][]byte{
		"f": encode(t, []page{{"a"}, {"b"}}), "g": encode(t, []page{{"c"}}),
		"other": encode(t, visits(1)), "none": {},
	}
	out, err := rewrite(files, nil, func(add adder) error {
		return errors.Join(add("f", 0, "A\n"), add("f", 1, "B\n"), add("g", 0, "C"))
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[page](bytes.NewReader(out), int64(len(out)))
	if err != nil || !reflect.DeepEqual(rows, []page{{"A"}, {"B"}, {"C"}}) {
		t.Errorf("%v, %v", rows, err)
	}
	for name, want := range map[string]string{
		"other": "other: the columns differ from the columns of the first input", "none": "none: the file has no footer",
	} {
		_, err = rewrite(files, nil, func(add adder) error { return add(name, 0, "x\n") })
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, bad := range [][]int64{{5}, {1, 0}} {
		_, err = rewrite(files, nil, func(add adder) error {
			for _, row := range bad {
				if err := errors.Join(add("f", row, "x\n")); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			t.Errorf("rows %v accepted", bad)
		}
	}
}
