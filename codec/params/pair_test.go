package params

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
)

// corpus returns the content of a file of the shared corpora.
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

func TestAppendPairs(t *testing.T) {
	f := func(query string, want ...string) {
		t.Helper()
		var got []string
		for _, p := range AppendPairs(nil, []byte(query)) {
			text := string(p.Name([]byte(query)))
			if p.Eq {
				text += " = " + string(p.Value([]byte(query)))
			} else if p.Value([]byte(query)) != nil {
				t.Errorf("%q: a field without '=' has a value", query)
			}
			got = append(got, text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	f("")
	f("a", "a")
	f("a=", "a = ")
	f("a=1&b=2", "a = 1", "b = 2")
	f("a=b=c", "a = b=c") // the first '=' ends the name: URL Standard §5.1
	f("=", " = ")
	f("&a&&", "", "a", "", "")
	f("a=1;b=2", "a = 1;b=2")                // ';' is data; HTML 4.01 B.2.2 no longer applies (D1)
	f("a%26b=1&c%3Dd", "a%26b = 1", "c%3Dd") // split before decoding

	// In the array styles of OpenAPI (OAS 3.1 "Style Values") no delimiter ends
	// a field.
	f("color=blue,black", "color = blue,black")
	f("color=blue|black", "color = blue|black")
	f("color=blue&color=black", "color = blue", "color = black")
	f("color[R]=100&color[G]=200", "color[R] = 100", "color[G] = 200")
	f(".blue.black;x=1", ".blue.black;x = 1")
}

func TestAppendPairsAppends(t *testing.T) {
	first := Pair{Start: 7}
	got := AppendPairs([]Pair{first}, []byte("a&b"))
	if len(got) != 3 || got[0] != first {
		t.Errorf("got %v", got)
	}
}

func TestAppendName(t *testing.T) {
	f := func(raw, want string) {
		t.Helper()
		if got := string(AppendName([]byte("x"), []byte(raw))); got != "x"+want {
			t.Errorf("%q: got %q, want %q", raw, got, "x"+want)
		}
	}
	f("a+b", "a b")         // URL Standard §5.1, step 3.4
	f("a%2Bb", "a+b")       // '+' becomes a space before decoding, not after (D2.15)
	f("%2541", "%41")       // once
	f("%4%31", "%41")       // malformed '%' are kept
	f("%ff%E9", "\xff\xe9") // no U+FFFD: different bytes stay different (D2.9)
}

// TestFormCorpus runs the vectors of the URL Standard. Where these have U+FFFD
// for bytes that are not UTF-8, we keep the bytes, because U+FFFD would make
// different names equal.
func TestFormCorpus(t *testing.T) {
	var cases []struct {
		Input  string
		Output [][2]string
	}
	if err := json.Unmarshal(corpus(t, "whatwg/urlencoded-parser.json"), &cases); err != nil {
		t.Fatal(err)
	}
	valid := func(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
	replaced := 0
	for _, c := range cases {
		query := []byte(c.Input)
		var got [][2]string
		for _, p := range AppendPairs(nil, query) {
			if p.Start == p.End {
				continue // the standard's parser drops these; here rule q-noempty does
			}
			name, value := AppendName(nil, p.Name(query)), AppendName(nil, p.Value(query))
			if valid(name) != string(name) || valid(value) != string(value) {
				replaced++
			}
			got = append(got, [2]string{valid(name), valid(value)})
		}
		if !slices.Equal(got, c.Output) && !strings.Contains(c.Input, "%FE%FF") && !strings.Contains(c.Input, "%FF%FE") {
			t.Errorf("%q: got %q, want %q", c.Input, got, c.Output) // ToValidUTF8 replaces two bad bytes by one U+FFFD, the standard by two
		}
	}
	if len(cases) < 20 || replaced == 0 {
		t.Errorf("the corpus has changed: %d cases, %d of them not UTF-8", len(cases), replaced)
	}
}

func TestBare(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := string(bare([]byte(name))); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	f("", "")
	f("?", "")
	f("?utm_source", "utm_source")
	f("amp;utm_source", "utm_source")
	f("AMP;x", "x")
	f("?amp;x", "x")
	f("amp;?x", "?x") // only in this order and only once
	f("amp;amp;x", "amp;x")
	f("??x", "?x")
	f("amp", "amp")
	f("amp;", "")
	f("amplitude", "amplitude")
}

// slowForm implements appendForm in two steps.
func slowForm(raw []byte) []byte {
	return percent.AppendEncode(nil, percent.AppendDecodeForm(nil, raw), percent.WHATWGForm)
}

func FuzzForm(f *testing.F) {
	for _, s := range []string{"", "a", "a b", "a+b", "%2b", "%2B+%20", "%zz%4", "%4%31", "~*-._", "%7e%41%c3%a9", "\x00\xff", "%", "%%41"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := appendForm(nil, raw)
		if want := slowForm(raw); !bytes.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", raw, got, want)
		}
		if again := appendForm(nil, got); !bytes.Equal(again, got) {
			t.Fatalf("%q: %q, then %q", raw, got, again)
		}
		var all uint8
		for _, c := range raw {
			all |= formClass[c]
		}
		if coded := !bytes.Equal(AppendName(nil, raw), raw); coded && all&formCoded == 0 {
			t.Fatalf("%q: decoding changes it, but no byte is formCoded", raw)
		}
		if all&formOther == 0 && !bytes.Equal(got, raw) {
			t.Fatalf("%q: becomes %q, but no byte is formOther", raw, got)
		}
	})
}
