package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
)

func newTestExplainer(t testing.TB, s style, redact bool) *explainer {
	t.Helper()
	p, _ := codec.Lookup(defaultProfile)
	p.MaxMarks = explainMarks
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return &explainer{style: s, norm: n, redact: redact}
}

// explained returns what explain writes.
func explained(x *explainer, url, vs []byte, asJSON bool) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if vs != nil {
		x.writePair(w, x.explain(url), x.explain(vs), asJSON)
	} else {
		x.write(w, x.explain(url), asJSON)
	}
	_ = w.Flush() // to memory
	return b.Bytes()
}

// Whatever the URL: the drawing has no byte that a terminal would act upon, JSON
// is JSON, a password that is to be hidden is, and nothing panics.
func FuzzExplain(f *testing.F) {
	for _, s := range []string{
		"", "/", "http://h", "HTTP://Ex%41mple.com:0080/a/../b%zz?q=ü#x", "http://[::1/x", "http://u:p@h/", "file:///x", "http://h:/?#",
		"http://evil.com\\@good.com/", "\x00\xff\u202e", "//\x1b[2J", "http://@h", "a:b:c@d", "?" + strings.Repeat("%zz", 60), "http:///" + strings.Repeat("日本 ", 90),
	} {
		f.Add([]byte(s), []byte("http://h/"))
	}
	ascii, utf := newTestExplainer(f, plain, false), newTestExplainer(f, fancy, false)
	f.Fuzz(func(t *testing.T, url, vs []byte) {
		for _, other := range [][]byte{nil, vs} {
			for _, c := range explained(ascii, url, other, false) {
				if c >= utf8.RuneSelf || c < ' ' && c != '\n' {
					t.Fatalf("%q: byte %02x in ASCII output", url, c)
				}
			}
			if out := explained(utf, url, other, false); !utf8.Valid(out) || bytes.ContainsAny(out, "\x00\x1b\r\u202e") {
				t.Fatalf("%q: %q is not fit for a terminal", url, out)
			}
			if out := explained(utf, url, other, true); !json.Valid(out) || bytes.Count(out, []byte("\n")) != 1 {
				t.Fatalf("%q: %q is no JSON line", url, out)
			}
		}
	})
}

// A password is nowhere in the output if it is to be hidden.
func TestExplainRedact(t *testing.T) {
	const secret = "hunter2zz"
	for _, url := range []string{
		"http://u:" + secret + "@h/", "http://u:" + secret + "%4@[::1]:80/..", "ftp://:" + secret + "@h", "//u:" + secret + "@h", "http://u:" + secret + "@[::1/",
	} {
		for _, asJSON := range []bool{false, true} {
			for _, vs := range [][]byte{nil, []byte("http://u:other@h/")} {
				out := explained(newTestExplainer(t, fancy, true), []byte(url), vs, asJSON)
				if bytes.Contains(out, []byte(secret)) || bytes.Contains(out, []byte("other")) && vs != nil && bytes.Contains(out, []byte("u:other")) {
					t.Errorf("%s: the password is there: %s", url, out)
				}
				if out := explained(newTestExplainer(t, fancy, false), []byte(url), vs, asJSON); !bytes.Contains(out, []byte(secret)) {
					t.Errorf("%s: the password is not there though it may be: %s", url, out)
				}
			}
		}
	}
}

// Every caret stands under the first character of its defect.
func TestCarets(t *testing.T) {
	x := newTestExplainer(t, fancy, false)
	for _, url := range []string{"http://h/%zz", "http://h/日本%zz", "http://h/\x00\x01%zz?%4", "http://h/" + strings.Repeat("a", 300) + "%zz"} {
		e := x.explain([]byte(url))
		var b bytes.Buffer
		w := bufio.NewWriter(&b)
		x.drawDefects(w, e)
		_ = w.Flush() // to memory
		lines := strings.Split(b.String(), "\n")
		carets := 0
		for i, l := range lines[1:] {
			if strings.Trim(l, " ^") != "" || !strings.Contains(l, "^") {
				continue
			}
			above := lines[i]
			for col := range l {
				if l[col] != '^' {
					continue
				}
				carets++
				if at := cellAt(above, col); !strings.ContainsAny(at, `%\日`) {
					t.Errorf("%q: a caret under %q in\n%s\n%s", url, at, above, l)
				}
			}
		}
		if want := len(defects(e)); carets != want {
			t.Errorf("%q: %d carets for %d defects", url, carets, want)
		}
	}
}

// cellAt returns the character at a column of a line.
func cellAt(line string, col int) string {
	for _, r := range line {
		if col <= 0 {
			return string(r)
		}
		col -= 1 + wide(r)
	}
	return ""
}

func TestFlagInfos(t *testing.T) {
	for f := range codec.Flag(codec.NumFlags) {
		info := flagInfos[f]
		if info.meaning == "" || strings.HasSuffix(info.meaning, ".") {
			t.Errorf("%v: meaning %q", f, info.meaning)
		}
		if info.clause == "" && codec.Violations.Has(f) {
			t.Errorf("%v: nothing says that this is a violation", f)
		}
	}
	for a := codec.Kept; a <= codec.Replaced; a++ {
		if actionTexts[a] == "" {
			t.Errorf("%v: no text", a)
		}
	}
	for c := codec.Unchanged; c <= codec.Lossy; c++ {
		if changeTexts[c] == "" {
			t.Errorf("%v: no text", c)
		}
	}
}

func TestShorten(t *testing.T) {
	f := func(a, b string, n int, wantA, wantB string) {
		t.Helper()
		if gotA, gotB := shorten(a, b, n, "…"); gotA != wantA || gotB != wantB {
			t.Errorf("shorten(%q, %q, %d) = %q, %q; want %q, %q", a, b, n, gotA, gotB, wantA, wantB)
		}
	}
	f("abc", "abd", 12, "abc", "abd")
	f("aaaaaaaaaaaaaaaaaaaaX", "aaaaaaaaaaaaaaaaaaaaY", 12, "…aaaaX", "…aaaaY")
	f("Xaaaaaaaaaaaaaaaaaaaa", "Yaaaaaaaaaaaaaaaaaaaa", 12, "Xaaaaaaaaa…", "Yaaaaaaaaa…")
	f("", "Yaaaaaaaaaaaaaaaaaaaa", 12, "", "Yaaaaaaaaa…")
}
