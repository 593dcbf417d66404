package explain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// defaultProfile is the profile of the command.
const defaultProfile = "equiv"

// newTestExplainer returns an explainer with a profile, and keys on a standard.
func newTestExplainer(t testing.TB, profile string, standard codec.Standard, redact ...string) *Explainer {
	t.Helper()
	p, _ := codec.Lookup(profile)
	p.MaxDiagnostics = MaxDiagnostics
	n, err := codec.New(p, codec.WithStandard(standard))
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Normalizer: n, Level: p.Key, Redact: redact})
}

// asText returns what a TextWriter writes.
func asText(x *Explainer, s terminal.Style, url, vs []byte) []byte {
	var b bytes.Buffer
	w := NewTextWriter(&b, s, x)
	if vs != nil {
		w.WritePair(x.Compare(url, vs))
	} else {
		w.Write(x.Explain(url))
	}
	_ = w.Flush() // to memory
	return b.Bytes()
}

// asJSON returns what a JSONWriter writes.
func asJSON(x *Explainer, url, vs []byte) []byte {
	var b bytes.Buffer
	w := NewJSONWriter(&b, x)
	if vs != nil {
		w.WritePair(x.Compare(url, vs))
	} else {
		w.Write(x.Explain(url))
	}
	_ = w.Flush() // to memory
	return b.Bytes()
}

// Whatever the URL is, the drawing has no byte that controls a terminal, the
// JSON is valid, a password is hidden if that is asked for, and nothing
// panics.
func FuzzExplain(f *testing.F) {
	for _, s := range []string{
		"", "/", "http://h", "HTTP://Ex%41mple.com:0080/a/../b%zz?q=ü#x", "http://[::1/x", "http://u:p@h/", "file:///x", "http://h:/?#",
		"http://evil.com\\@good.com/", "\x00\xff\u202e", "//\x1b[2J", "http://@h", "a:b:c@d", "?" + strings.Repeat("%zz", 60), "http:///" + strings.Repeat("日本 ", 90),
	} {
		f.Add([]byte(s), []byte("http://h/"))
	}
	ascii, utf := newTestExplainer(f, "analytics", codec.RFC3986), newTestExplainer(f, defaultProfile, codec.WHATWG)
	f.Fuzz(func(t *testing.T, url, vs []byte) {
		for _, other := range [][]byte{nil, vs} {
			for _, c := range asText(ascii, plain, url, other) {
				if c >= utf8.RuneSelf || c < ' ' && c != '\n' {
					t.Fatalf("%q: byte %02x in ASCII output", url, c)
				}
			}
			if out := asText(utf, fancy, url, other); !utf8.Valid(out) || bytes.ContainsAny(out, "\x00\x1b\r\u202e") {
				t.Fatalf("%q: %q is not fit for a terminal", url, out)
			}
			if out := asJSON(utf, url, other); !json.Valid(out) || bytes.Count(out, []byte("\n")) != 1 {
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
		`http:\\u:` + secret + "@h/", "http:u:" + secret + "@h/a?b", "\thttp://u:" + secret + "@h\\x", `http://u:` + secret + `@h\@g/`,
	} {
		for _, vs := range [][]byte{nil, []byte("http://u:other@h/")} {
			both := func(x *Explainer) []byte {
				return append(asText(x, fancy, []byte(url), vs), asJSON(x, []byte(url), vs)...)
			}
			for _, profile := range []string{"equiv", "rfc3986"} {
				for _, standard := range []codec.Standard{codec.RFC3986, codec.WHATWG} {
					out := both(newTestExplainer(t, profile, standard, "passwords"))
					if bytes.Contains(out, []byte(secret)) || bytes.Contains(out, []byte("u:other")) {
						t.Errorf("%s: %s, %v: the password is there: %s", url, profile, standard, out)
					}
				}
			}
			if out := both(newTestExplainer(t, defaultProfile, codec.WHATWG)); bytes.Count(out, []byte(secret)) < 2 {
				t.Errorf("%s: the password is not there though it may be: %s", url, out)
			}
		}
	}
}

// Every caret is under the first character of its defect.
func TestCarets(t *testing.T) {
	x := newTestExplainer(t, defaultProfile, codec.WHATWG)
	for _, url := range []string{"http://h/%zz", "http://h/日本%zz", "http://h/\x00\x01%zz?%4", "http://h/" + strings.Repeat("a", 300) + "%zz"} {
		e := x.Explain([]byte(url))
		var b bytes.Buffer
		w := NewTextWriter(&b, fancy, x)
		w.drawDefects(e)
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
		col -= terminal.RuneWidth(r)
	}
	return ""
}

func TestSentences(t *testing.T) {
	for a := codec.ActionKept; a <= codec.ActionReplaced; a++ {
		if actionTexts[a] == "" {
			t.Errorf("%v: no text", a)
		}
	}
	for c := codec.ChangeUnchanged; c <= codec.ChangeLossy; c++ {
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

// TestMergers names the rules that bring two keys together, and not those that do
// the same in both.
func TestMergers(t *testing.T) {
	f := func(profile string, lv codec.Level, a, b, want string) {
		t.Helper()
		p, _ := codec.Lookup(profile)
		pair := newTestExplainer(t, profile, p.Standard).Compare([]byte(a), []byte(b))
		if first, ok := pair.meetingLevel(); !ok || first != lv {
			t.Fatalf("%s and %s meet at %v (%v), want %v", a, b, first, ok, lv)
		}
		if got := strings.Join(pair.mergers(lv), ", "); got != want {
			t.Errorf("%s and %s: %q, want %q", a, b, got, want)
		}
	}
	f("rfc3986", codec.LevelEquivalent, "http://h", "http://h:80/", "path-empty, port-def")
	f("equiv", codec.LevelFetch, "http://h/?b&a", "http://h/?a&b", "q-sort-name")
	f("equiv", codec.LevelFetch, "http://h/#x", "http://h/", "frag-drop")
	f("equiv", codec.LevelFetch, "https://h/#x", "https://h/#y", "frag-drop")
	f("equiv", codec.LevelFetch, "http://h/?b&a&utm_source=x", "http://h/?a&b&utm_source=x", "q-sort-name")
	f("equiv", codec.LevelFetch, "http://h/?a&gclid=1", "http://h/?a&gclid=2", "q-drop gclid")
	f("equiv", codec.LevelPage, "http://www.example.com/a/", "https://www.example.com/a", "slash-trail")
	f("analytics", codec.LevelPage, "http://www.example.com/", "http://example.com/index.html", "www-one, dirindex")
}

// TestStandards tells what each standard makes of a URL.
func TestStandards(t *testing.T) {
	f := func(url string, rfc, whatwg standing, apart string) {
		t.Helper()
		e := newTestExplainer(t, defaultProfile, codec.WHATWG).Explain([]byte(url))
		var names []string
		if e.rfc.standing != failure && e.whatwg.standing != failure {
			for _, d := range differences(e.rfc.k1, e.whatwg.k1) {
				names = append(names, d.component)
			}
		}
		if got := strings.Join(names, ","); e.rfc.standing != rfc || e.whatwg.standing != whatwg || got != apart {
			t.Errorf("%q: %s and %s, apart in %q; want %s and %s, %q", url, e.rfc.standing, e.whatwg.standing, got, rfc, whatwg, apart)
		}
	}
	f("http://h/", valid, valid, "")
	f("HTTP://H:80/a/../%7e", valid, valid, "")
	f("http://h/日", invalid, valid, "")
	f("http://h/a|b", invalid, invalid, "")
	f("http://u@h/", valid, invalid, "")
	f("http://0x7f.1/", valid, invalid, "host")
	f(`http://evil.com\@good.com/`, invalid, invalid, "username,host,path")
	f("http://h:99999/", valid, failure, "")
	f("http://[::1/", failure, failure, "")
	f("../a", valid, failure, "")
	f("mailto:a@b", valid, valid, "")
}
