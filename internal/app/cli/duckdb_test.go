//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runQueries runs the queries in its arguments, and then the Python code on
// stdin, and prints the rows of each query as JSON.
const runQueries = `
import json, sys
import duckdb
for query in sys.argv[1:]:
    print(json.dumps(duckdb.sql(query).fetchall()))
sys.stdout = sys.stderr
exec(sys.stdin.read())
`

// TestDuckDB runs the queries of the page on DuckDB, also where only its Python
// package is installed, and compares their results with the rendering jsonl.
func TestDuckDB(t *testing.T) {
	python := withPackage(t, "duckdb")
	const page = "docs/how-to/query-duckdb.md"
	var queries []string
	var code strings.Builder
	for _, f := range fences(page, readPage(t, page)) {
		if f.lang == "python" && f.attrs["file"] == "" {
			code.WriteString(strings.Join(f.lines, "\n") + "\n")
		}
		for _, s := range f.steps() {
			if query, ok := strings.CutPrefix(s.command, `duckdb -c "`); ok {
				queries = append(queries, strings.TrimSuffix(query, `"`))
			}
		}
	}
	if len(queries) != 3 || code.String() == "" {
		t.Fatalf("the page has %d queries and this code: %s", len(queries), code.String())
	}
	dir := t.TempDir()
	log, err := filepath.Abs("../../../testdata/sample/access.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, "-p", "analytics", log, "-o", "urls.parquet")
	cmd := exec.Command(python, append([]string{"-c", runQueries}, queries...)...)
	var stderr strings.Builder
	cmd.Dir, cmd.Stdin, cmd.Stderr, cmd.Env = dir, strings.NewReader(code.String()), &stderr, os.Environ()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	rows := strings.Split(string(out), "\n")
	list := readURLs(t, runIn(t, dir, "-p", "analytics", "-r", "jsonl", log))
	checkFlags(t, list, rows[0])
	checkPages(t, list, rows[1])
	checkDiagnostics(t, list, rows[2])
	if !strings.Contains(stderr.String(), "www.example.com") {
		t.Errorf("the Python code prints\n%s", &stderr)
	}
}

// listedURL is an object of the rendering jsonl.
type listedURL struct {
	URL, Norm, Key string
	Flags          []string
	Diagnostics    []struct {
		Flag, Component string
		At              int
	}
}

func readURLs(t *testing.T, text string) (list []listedURL) {
	t.Helper()
	for line := range strings.Lines(text) {
		var u listedURL
		if err := json.Unmarshal([]byte(line), &u); err != nil {
			t.Fatal(err)
		}
		list = append(list, u)
	}
	return list
}

// checkFlags checks the flags and their numbers.
func checkFlags(t *testing.T, list []listedURL, rows string) {
	t.Helper()
	counts := map[string]int{}
	for _, u := range list {
		for _, f := range u.Flags {
			counts[f]++
		}
	}
	var got [][]any
	if err := json.Unmarshal([]byte(rows), &got); err != nil || len(got) != 5 {
		t.Fatalf("%v: %s", err, rows)
	}
	for _, row := range got {
		if fmt.Sprint(counts[row[0].(string)]) != fmt.Sprint(row[1]) {
			t.Errorf("flag %v: %d URLs", row, counts[row[0].(string)])
		}
	}
}

// checkPages checks the numbers of requests and the pages.
func checkPages(t *testing.T, list []listedURL, rows string) {
	t.Helper()
	counts, keys := map[string]int{}, map[string]string{}
	for _, u := range list {
		if u.Norm != "" {
			counts[u.Key]++
			keys[u.Norm] = u.Key
		}
	}
	var got [][]any
	if err := json.Unmarshal([]byte(rows), &got); err != nil || len(got) != 5 {
		t.Fatalf("%v: %s", err, rows)
	}
	for _, row := range got {
		if n := counts[keys[row[1].(string)]]; fmt.Sprint(n) != fmt.Sprint(row[0]) {
			t.Errorf("page %v: %d requests", row, n)
		}
	}
}

// checkDiagnostics checks diagnostics in queries.
func checkDiagnostics(t *testing.T, list []listedURL, rows string) {
	t.Helper()
	var want []string
	for _, u := range list {
		for _, d := range u.Diagnostics {
			if d.Component == "query" {
				row, _ := json.Marshal([]any{u.URL, d.Flag, d.At})
				want = append(want, string(row))
			}
		}
	}
	var got []json.RawMessage
	if err := json.Unmarshal([]byte(rows), &got); err != nil || len(got) != 5 {
		t.Fatalf("%v: %s", err, rows)
	}
	for _, row := range got {
		if text := strings.ReplaceAll(string(row), ", ", ","); !slices.Contains(want, text) {
			t.Errorf("no URL has the diagnostic %s", text)
		}
	}
}
