package codec

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus returns the content of a file of the shared test material.
func corpus(t testing.TB, name string) []byte {
	t.Helper()
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skipf("skipped: %s; set URLFOLD_CORPORA to the folder of the corpora", name)
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func corpusJSON(t testing.TB, name string, v any) {
	t.Helper()
	if err := json.Unmarshal(corpus(t, name), v); err != nil {
		t.Fatal(err)
	}
}

// exceptions holds a list of expected failures, one per line: the case as a
// JSON string, a tab, and the reason. An unexpected pass is a failure too.
type exceptions struct {
	t    *testing.T
	why  map[string]string
	used map[string]bool
}

func readExceptions(t *testing.T, name string) *exceptions {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "exceptions", name))
	if err != nil {
		t.Fatal(err)
	}
	e := &exceptions{t, map[string]string{}, map[string]bool{}}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if s.Text() == "" || strings.HasPrefix(s.Text(), "//") {
			continue
		}
		quoted, why, ok := strings.Cut(s.Text(), "\t")
		var c string
		if err := json.Unmarshal([]byte(quoted), &c); err != nil || !ok || why == "" {
			t.Fatalf("%s: bad line %q", name, s.Text())
		}
		e.why[c] = why
	}
	return e
}

// check reports a case that fails although it is not listed, or passes although
// it is.
func (e *exceptions) check(name string, ok bool, format string, args ...any) {
	e.t.Helper()
	name = strings.ToValidUTF8(name, "\uFFFD")
	_, listed := e.why[name]
	e.used[name] = true
	switch {
	case !ok && !listed:
		e.t.Errorf(format, args...)
	case ok && listed:
		e.t.Errorf("unexpected pass of %q: remove it from the list", name)
	}
}

// done reports listed cases that did not occur.
func (e *exceptions) done() {
	e.t.Helper()
	for name := range e.why {
		if !e.used[name] {
			e.t.Errorf("%q is listed, but there is no such case", name)
		}
	}
}
