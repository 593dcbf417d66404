package codec

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "add missing lines to the golden files; existing lines never change")

// TestGolden compares normal forms and keys with the golden files: one for each
// profile and one for each key function. Their content must never change; see
// the check in .ci/run.
func TestGolden(t *testing.T) {
	for _, n := range fuzzNormalizers {
		golden(t, "profile-"+n.Profile().Name, func(src []byte) string {
			var r Result
			norm, err := n.Append(nil, src, &r)
			if err != nil {
				return "error " + err.(Error).Name()
			}
			return quoteJSON(norm) + " " + r.Change().String() + " " + string(r.Flags.AppendTo(nil))
		})
	}
	for _, name := range []string{"rfc3986-scheme", "equiv"} {
		p, _ := Lookup(name)
		for _, lv := range keyedLevels {
			golden(t, strings.ReplaceAll(KeyFunction(p.Standard, lv), "/", "-"), func(src []byte) string { return goldenKey(t, p, lv, src) })
		}
	}
}

// goldenKey returns the canonical string of a level and its three hashes.
func goldenKey(t *testing.T, p Profile, lv Level, src []byte) string {
	t.Helper()
	line := ""
	for _, opt := range []Option{WithHash(XXH3), WithHash(SHA256), WithHMACKey([]byte("golden key of 24 bytes.."))} {
		n, err := New(p, opt)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		_, err = n.Append(nil, src, &r)
		if err != nil {
			return "none"
		}
		if line == "" {
			line = quoteJSON(r.AppendKey(nil, lv))
		}
		line += " " + r.Key(lv).String()
	}
	return line
}

// quoteJSON writes b as a JSON string whose characters are the bytes of b.
func quoteJSON(b []byte) string {
	q, err := json.Marshal(slowBytes(string(b)))
	if err != nil {
		panic(err)
	}
	return string(bytes.ReplaceAll(q, []byte("\u007f"), []byte(`\u007f`)))
}

// golden compares the result of f for every input with a file. Each line of the
// file is the input, as a JSON string whose characters are its bytes, a tab,
// and the result.
func golden(t *testing.T, name string, f func(src []byte) string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".txt")
	want := map[string]string{}
	old, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(old)); s.Scan(); {
		in, out, _ := strings.Cut(s.Text(), "\t")
		want[in] = out
	}
	out := old
	for _, src := range seeds {
		in, got := quoteJSON([]byte(src)), f([]byte(src))
		switch w, ok := want[in]; {
		case !ok && *update:
			out = append(out, in+"\t"+got+"\n"...)
		case !ok:
			t.Errorf("%s: %s is missing; run go test -run Golden -update", name, in)
		case w != got:
			t.Errorf("%s: %s:\n got %s\nwant %s", name, in, got, w)
		}
	}
	if *update {
		if err := os.WriteFile(path, out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
