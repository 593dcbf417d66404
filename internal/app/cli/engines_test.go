//go:build unix

package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// engineURLs returns the number of URLs that the tests with engines normalize:
// URLFOLD_ENGINE_URLS, or few.
func engineURLs(t *testing.T) int {
	t.Helper()
	text := os.Getenv("URLFOLD_ENGINE_URLS")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("URLFOLD_ENGINE_URLS: %q is not a number of URLs", text)
	}
	return n
}

// An engine is a folder with a list of URLs and the files of a page, and the
// normal form and key of each URL as an ordinary run writes them.
type askedEngine struct {
	*testing.T
	dir   string
	urls  []string
	norms map[string]string // absent: rejected
	keys  map[string]string
}

// newEngine writes the files of pages to a new folder, and the URLs to urls.txt
// there.
func newEngine(t *testing.T, profile string, pages ...string) *askedEngine {
	t.Helper()
	e := &askedEngine{T: t, dir: t.TempDir(), urls: uniqueLines(engineURLs(t)), norms: map[string]string{}, keys: map[string]string{}}
	for i := range e.urls {
		if i%97 == 3 {
			e.urls[i] += `?q=\%C3%A9` + "é" // bytes that formats escape
		}
	}
	for _, page := range pages {
		for _, f := range fences(page, readPage(t, page)) {
			if name := f.attrs["file"]; name != "" {
				e.write(name, strings.Join(f.lines, "\n")+"\n")
			}
		}
	}
	e.write("urls.txt", strings.Join(e.urls, "\n")+"\n")
	for _, run := range []struct {
		profile, field string
		to             map[string]string
	}{{"equiv", "norm", e.norms}, {profile, "key", e.keys}} {
		for line := range strings.Lines(runIn(t, e.dir, "-p", run.profile, "-r", "jsonl", "--fields", "url,"+run.field, "urls.txt")) {
			var u map[string]any
			if err := json.Unmarshal([]byte(line), &u); err != nil {
				t.Fatal(err)
			}
			if value, ok := u[run.field].(string); ok {
				run.to[u["url"].(string)] = value
			}
		}
	}
	return e
}

func (e *askedEngine) write(name, text string) {
	e.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600); err != nil {
		e.Fatal(err)
	}
}

// run runs a program in the folder and returns its stdout.
func (e *askedEngine) run(name string, args ...string) string {
	e.Helper()
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Dir, cmd.Stderr = e.dir, &stderr
	cmd.Env = append(os.Environ(), "PYSPARK_SUBMIT_ARGS=--master local[2] --conf spark.ui.enabled=false pyspark-shell", "PYSPARK_PYTHON="+name, "SPARK_LOCAL_IP=127.0.0.1")
	out, err := cmd.Output()
	if err != nil {
		e.Fatalf("%s: %v\n%.3000s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// check compares a table of URLs, normal forms and keys with our own, in any
// order. Empty strings are absent; a row without keys has two fields.
func (e *askedEngine) check(rows [][]string) {
	e.Helper()
	failed := 0
	var got []string
	for _, row := range rows {
		got = append(got, row[0])
		if row[1] != e.norms[row[0]] || len(row) > 2 && row[2] != e.keys[row[0]] {
			if failed++; failed <= 5 {
				e.Errorf("%q: expected %q, %q", row, e.norms[row[0]], e.keys[row[0]])
			}
		}
	}
	want := slices.Clone(e.urls)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		e.Errorf("%d rows for %d URLs", len(got), len(want))
	}
	e.Logf("%d rows, %d differences", len(rows), failed)
}

// TestSpark runs the programs of the page in PySpark.
func TestSpark(t *testing.T) {
	python := withPackage(t, "pyspark")
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("skipped: PySpark; install Java")
	}
	e := newEngine(t, "equiv", "docs/how-to/spark.md")
	e.run(python, "spark_pipe.py", "urls.txt", "norms")
	var rows [][]string
	for _, line := range e.parts("norms") {
		url, norm, _ := strings.Cut(line, "\t")
		rows = append(rows, []string{url, norm})
	}
	e.check(rows)
	e.run(python, "spark_transform.py", "urls.txt", "table")
	rows = nil
	for _, line := range e.parts("table") {
		var u struct{ URL, Norm string }
		if err := json.Unmarshal([]byte(line), &u); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, []string{u.URL, u.Norm})
	}
	for _, url := range e.urls {
		e.norms[url] = cmp.Or(e.norms[url], url) // a URL that cannot be parsed stays
	}
	e.check(rows)
}

// parts returns the lines of the files that Spark has written to a folder.
func (e *askedEngine) parts(dir string) (lines []string) {
	e.Helper()
	files, err := filepath.Glob(filepath.Join(e.dir, dir, "part-*"))
	if err != nil || len(files) == 0 {
		e.Fatalf("no output in %s: %v", dir, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			e.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	return lines
}

// TestDuckDBFunction calls urlfold from DuckDB, for the URLs of a Parquet file
// that has their normal forms.
func TestDuckDBFunction(t *testing.T) {
	withPackage(t, "pyarrow")
	withPackage(t, "numpy")
	python := withPackage(t, "duckdb")
	bindings, err := filepath.Abs("../../../bindings/python")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", bindings)
	e := newEngine(t, "equiv", "docs/how-to/query-duckdb.md")
	runIn(t, e.dir, "-o", "urls.parquet", "--fields", "url,norm,error", "urls.txt")
	if out := strings.TrimSpace(e.run(python, "duckdb_function.py")); !strings.HasSuffix(out, " 0") || out == "0 0" {
		t.Errorf("%s, expected URLs and no NULL", out)
	}
}

// TestChdb calls the functions of the page from chDB.
func TestChdb(t *testing.T) {
	python := withPackage(t, "chdb")
	e := newEngine(t, "crawler", "docs/how-to/clickhouse.md")
	text, err := os.ReadFile(filepath.Join(e.dir, "urlfold_function.xml"))
	if err != nil {
		t.Fatal(err)
	}
	e.write("udf_config.xml", string(text))
	var rows [][]string
	unescape := strings.NewReplacer(`\\`, `\`, `\'`, `'`)
	for line := range strings.Lines(e.run(python, "chdb_function.py", filepath.Join(e.dir, "urls.txt"), e.dir)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		row[0], row[1] = unescape.Replace(row[0]), unescape.Replace(row[1])
		rows = append(rows, row)
	}
	e.check(rows)
}

// TestClickHouseFraming replays what an executable_pool of ClickHouse sends:
// blocks of 8,192 rows, of one row and of other sizes, each with its number of
// rows. The next block follows when the block before it is answered.
func TestClickHouseFraming(t *testing.T) {
	e := newEngine(t, "equiv")
	for _, size := range []int{8192, 1, 3} {
		urls := e.urls
		if size < 10 {
			urls = urls[:min(len(urls), 5000*size)]
		}
		cmd := exec.Command("urlfold", "--lock-step=chunks", "-f", "tsv", "-r", "tsv", "--fields", "norm,key")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewReader(out)
		var rows [][]string
		for chunk := range slices.Chunk(urls, size) {
			var text strings.Builder
			fmt.Fprintf(&text, "%d\n", len(chunk))
			for _, url := range chunk {
				text.WriteString(strings.ReplaceAll(url, `\`, `\\`) + "\n")
			}
			if _, err := io.WriteString(in, text.String()); err != nil {
				t.Fatal(err)
			}
			for _, url := range chunk {
				line, err := answers.ReadString('\n')
				if err != nil {
					t.Fatalf("%q: %v", url, err)
				}
				norm, key, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
				rows = append(rows, []string{url, strings.ReplaceAll(norm, `\\`, `\`), key})
			}
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		(&askedEngine{T: t, urls: urls, norms: e.norms, keys: e.keys}).check(rows)
	}
}
