package percent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/tsv"
)

// The vectors of other projects are not in the repository: set URLFOLD_CORPORA
// to their folder.

// readVectors decodes a JSON file of the corpora into v.
func readVectors(t *testing.T, name string, v any) {
	t.Helper()
	root := os.Getenv("URLFOLD_CORPORA")
	if root == "" {
		t.Skipf("skipped: %s; set URLFOLD_CORPORA to the folder of the corpora", name)
	}
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// exceptions holds the vectors that are expected to fail, and the ones that
// did.
type exceptions struct {
	t    *testing.T
	file string
	left map[string]bool
}

// expect reads the exceptions for a file of vectors.
func expect(t *testing.T, file string) exceptions {
	t.Helper()
	e := exceptions{t, file, map[string]bool{}}
	for _, row := range tsv.Read(t, "testdata/vectors-exceptions.tsv") {
		if row["reason"] == "" {
			t.Errorf("%s: an exception without a reason: %s", file, row["vector"])
		}
		if row["file"] == file {
			e.left[row["vector"]] = true
		}
	}
	return e
}

// check compares the result for one vector. name is its name in the list of
// exceptions.
func (e exceptions) check(name, got, want string) {
	e.t.Helper()
	excepted := e.left[name]
	delete(e.left, name)
	switch {
	case excepted && got == want:
		e.t.Errorf("%s: %s passes, but is in the list of exceptions", e.file, name)
	case !excepted && got != want:
		e.t.Errorf("%s: %s\n got %q\nwant %q", e.file, name, got, want)
	}
}

// done fails the test for exceptions that match no vector.
func (e exceptions) done() {
	e.t.Helper()
	for name := range e.left {
		e.t.Errorf("%s: the list of exceptions has an unknown vector %s", e.file, name)
	}
}

// coraza is a vector of the Coraza web application firewall. In Output, \xhh
// stands for a byte.
type coraza struct {
	Input, Output string
	Ret           int
}

var reHexEscape = regexp.MustCompile(`\\x[0-9a-f]{2}`)

func (c coraza) output() string {
	return reHexEscape.ReplaceAllStringFunc(c.Output, func(e string) string {
		n, err := strconv.ParseUint(e[2:], 16, 8)
		if err != nil {
			panic(err)
		}
		return string([]byte{byte(n)})
	})
}

// TestCorazaDecode compares AppendDecodeForm with urlDecode. Its ret says
// whether decoding changed anything.
func TestCorazaDecode(t *testing.T) {
	const file = "percent/urlDecode.json"
	var vectors []coraza
	readVectors(t, file, &vectors)
	e := expect(t, file)
	for _, v := range vectors {
		got := string(AppendDecodeForm(nil, []byte(v.Input)))
		ret := map[bool]int{true: 1}[got != v.Input]
		e.check(strconv.Quote(v.Input), fmt.Sprint(ret, got), fmt.Sprint(v.Ret, v.output()))
	}
	e.done()
}

// TestCorazaValidate compares Check with validateUrlEncoding, which returns 1
// if an escape is invalid.
func TestCorazaValidate(t *testing.T) {
	const file = "percent/validateUrlEncoding.json"
	var vectors []coraza
	readVectors(t, file, &vectors)
	e := expect(t, file)
	for _, v := range vectors {
		got := map[bool]int{true: 1}[Check([]byte(v.Input)) != nil]
		e.check(strconv.Quote(v.Input), fmt.Sprint(got), fmt.Sprint(v.Ret))
	}
	e.done()
}

// TestWPTPercentEncoding runs vectors for the query of a special scheme in
// several encodings. Only UTF-8 applies here.
func TestWPTPercentEncoding(t *testing.T) {
	const file = "whatwg/percent-encoding.json"
	var raw []json.RawMessage
	readVectors(t, file, &raw)
	e := expect(t, file)
	n := 0
	for _, r := range raw {
		var v struct {
			Input  string
			Output map[string]string
		}
		if r[0] != '{' { // a comment
			continue
		}
		if err := json.Unmarshal(r, &v); err != nil {
			t.Fatal(err)
		}
		n++
		e.check(strconv.Quote(v.Input), string(AppendEncode(nil, []byte(v.Input), WHATWGSpecialQuery)), v.Output["utf-8"])
	}
	if n == 0 {
		t.Error("found no vectors")
	}
	e.done()
}

// TestWPTFormParser runs vectors for application/x-www-form-urlencoded text.
// Their results are decoded from UTF-8 with U+FFFD for invalid bytes. We keep
// bytes, so the test makes the same conversion.
func TestWPTFormParser(t *testing.T) {
	const file = "whatwg/urlencoded-parser.json"
	var vectors []struct {
		Input  string
		Output [][2]string
	}
	readVectors(t, file, &vectors)
	e := expect(t, file)
	text := func(s string) string { return string([]rune(string(AppendDecodeForm(nil, []byte(s))))) }
	for _, v := range vectors {
		got := [][2]string{}
		for field := range strings.SplitSeq(v.Input, "&") {
			if name, value, _ := strings.Cut(field, "="); field != "" {
				got = append(got, [2]string{text(name), text(value)})
			}
		}
		e.check(strconv.Quote(v.Input), fmt.Sprintf("%q", got), fmt.Sprintf("%q", v.Output))
	}
	e.done()
}

// TestVRL runs the examples of Vector's encode_percent and decode_percent.
func TestVRL(t *testing.T) {
	type function struct {
		Examples []struct{ Title, Source, Return string }
	}
	call := regexp.MustCompile(`^\w+\(("(?:[^"\\]|\\.)*")(?:, ascii_set: "(\w+)")?\)$`)
	// Without ascii_set all bytes except alphanumerics are escaped. For the
	// bytes in the examples the component set is equivalent.
	sets := map[string]ByteSet{"": WHATWGComponent, "CONTROLS": WHATWGC0}
	for name, do := range map[string]func(src []byte, s ByteSet) []byte{
		"encode_percent": func(src []byte, s ByteSet) []byte { return AppendEncode(nil, src, s) },
		"decode_percent": func(src []byte, _ ByteSet) []byte { return AppendDecode(nil, src) },
	} {
		file := "logs/vrl/" + name + ".json"
		var f function
		readVectors(t, file, &f)
		e := expect(t, file)
		for _, x := range f.Examples {
			m := call.FindStringSubmatch(x.Source)
			if m == nil {
				t.Fatalf("%s: %s", file, x.Source)
			}
			src, err := strconv.Unquote(m[1])
			set, known := sets[m[2]]
			if err != nil || !known {
				t.Fatalf("%s: %s: %v", file, x.Source, err)
			}
			e.check(x.Source, string(do([]byte(src), set)), x.Return)
		}
		e.done()
	}
}
