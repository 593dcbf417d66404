package charset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

func TestLookup(t *testing.T) {
	for _, name := range Names() {
		e, err := Lookup(strings.ToUpper(name))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case (e == nil) != (name == "utf-8"):
			t.Errorf("%s is %v", name, e)
		case e != nil && e.Name() != name:
			t.Errorf("%s is %s", name, e.Name())
		}
	}
	// Encoding Standard §4.2, §4.3: labels, and encodings whose output encoding is UTF-8.
	for label, want := range map[string]string{"latin1": "windows-1252", " utf-16be ": "", "UTF8": "", "iso-2022-kr": "", "sjis": "shift_jis"} {
		e, err := Lookup(label)
		if err != nil || (e == nil) != (want == "") || e != nil && e.Name() != want {
			t.Errorf("%s is %v, %v", label, e, err)
		}
	}
	if _, err := Lookup("utf-9"); err == nil {
		t.Error("there is an encoding utf-9")
	}
}

// query returns the query of a URL in normal form, under an encoding.
func query(t *testing.T, label, scheme, text string) string {
	t.Helper()
	e, err := Lookup(label)
	if err != nil {
		t.Fatal(err)
	}
	var opts []codec.Option
	if e != nil {
		opts = append(opts, codec.WithQueryEncoding(e))
	}
	p, _ := codec.Lookup("whatwg")
	n, err := codec.New(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	var r codec.Result
	norm, err := n.Append(nil, []byte(scheme+"://h/"+text+"?"+text+"#"+text), &r)
	if err != nil {
		t.Fatal(err)
	}
	return string(r.Out.Bytes(norm, codec.Query))
}

func TestQuery(t *testing.T) {
	f := func(label, text, want string) {
		t.Helper()
		if got := query(t, label, "http", text); got != want {
			t.Errorf("%s: %q is %q, want %q", label, text, got, want)
		}
	}
	f("windows-1252", "é'\u2020%zz", "%E9%27%86%zz")
	f("windows-1252", "\u2603", "%26%239731%3B") // https://url.spec.whatwg.org/#string-percent-encode-after-encoding
	f("windows-1252", "é\xFFé", "%E9%FF%E9")     // what is no UTF-8 stays
	f("koi8-r", "Я", "%F1")
	f("gbk", "€", "%80")
	f("gb18030", "€", "%A2%E3")
	f("shift_jis", "¥‾−ｱ", "\\~%81|%B1")
	f("euc-jp", "¥‾−", "\\~%A1%DD")
	f("euc-jp", "\u4E02", "%26%2319970%3B") // JIS X 0212 only
	f("big5", "中", "%A4%A4")
	f("iso-2022-jp", "あa¥\u2020ｱ\x0E", "%1B$B$%22%1B(Ba%1B(J\\%1B$B%22w%%22%1B(B%26%2365533%3B")
	f("utf-16le", "é", "%C3%A9")
	// URL Standard §4.4, query state: only special schemes, and not ws and wss.
	for scheme, want := range map[string]string{"https": "%E9", "ftp": "%E9", "ws": "%C3%A9", "wss": "%C3%A9", "git": "%C3%A9"} {
		if got := query(t, "latin1", scheme, "é"); got != want {
			t.Errorf("%s: %q, want %q", scheme, got, want)
		}
	}
}

// TestWPT: percent-encoding.json of the web platform tests, all encodings.
func TestWPT(t *testing.T) {
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: the web platform tests of query encodings; set URLFOLD_CORPORA to the folder of the corpora")
	}
	data, err := os.ReadFile(filepath.Join(dir, "whatwg", "percent-encoding.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, row := range rows {
		var c struct {
			Input  string
			Output map[string]string
		}
		if json.Unmarshal(row, &c) != nil {
			continue // a comment is a string
		}
		for label, want := range c.Output {
			checked++
			if got := query(t, label, "http", c.Input); got != want {
				t.Errorf("%s: %q is %q, want %q", label, c.Input, got, want)
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d cases", checked)
	}
}

// TestNoAllocs: an encoder is for a hot path.
func TestNoAllocs(t *testing.T) {
	text := []byte("é中あ\u2603¥x")
	dst := make([]byte, 0, 256)
	for _, name := range names {
		e, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(20, func() { e.AppendQuery(dst, text) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
