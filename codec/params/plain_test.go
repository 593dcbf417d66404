package params

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParsePlain(t *testing.T) {
	const text = "\ufeff"
	f := func(line string, want ListRule) {
		t.Helper()
		l, err := ParsePlain("l", "", []byte("\n"+line+"\r\n"))
		if err != nil || len(l.Rules) != 1 {
			t.Errorf("%q: %+v, %v", line, l, err)
			return
		}
		want.Source = "l:2"
		if l.Rules[0] != want {
			t.Errorf("%q: got %+v, want %+v", line, l.Rules[0], want)
		}
		if _, err := Compile(l); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		r, err := ParseListRule(cutComment(line), "here")
		want.Source = "here"
		if err != nil || r != want {
			t.Errorf("ParseListRule(%q) = %+v, %v", line, r, err)
		}
	}
	f("gclid", ListRule{Name: "gclid"})
	f("  gclid  # Google", ListRule{Name: "gclid"})
	f("utm_*", ListRule{Name: "utm_", match: matchPrefix})
	f("/ga_[a-z]+/", ListRule{Name: "ga_[a-z]+", match: matchRegexp})
	f("sid ~alnum16", ListRule{Name: "sid", value: shapeAlnum16})
	f("mr:device", ListRule{Name: "mr:device"})
	f("a%20b%2A", ListRule{Name: "a b*"})
	f("a+b", ListRule{Name: "a b"})
	f("a#b", ListRule{Name: "a#b"})
	f("example.com: ref", ListRule{Host: "example.com", Name: "ref"})
	f("google.*: ved", ListRule{Host: "google.*", Name: "ved"})
	f("example.com/path/**: sku ~int", ListRule{Host: "example.com", Path: "/path/**", Name: "sku", value: shapeInt})
	f("/path: x", ListRule{Path: "/path", Name: "x"})
	f("!keep", ListRule{action: actionKeep, Name: "keep"})
	f("@@ example.com: *", ListRule{action: actionKeep, Host: "example.com", match: matchPrefix})
	if l, err := ParsePlain("l", "", []byte("# nothing\n\n \t\r\n")); err != nil || len(l.Rules) != 0 || len(l.Version) != 16 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := ParsePlain("l", "", []byte(text+"a")); err != nil {
		t.Error(err) // a byte order mark is part of a name; it is not removed
	}
}

func TestParsePlainErrors(t *testing.T) {
	_, err := ParsePlain("my.txt", "1", []byte("fine\n a b\nx*y\n!\n: c\nsid ~hex # c\nexample.com: \"a b\"\n! *x*\n"))
	want := []string{
		"my.txt:2:3: white space in a name",
		"my.txt:3:2: '*' not at the end",
		"my.txt:4:2: missing name",
		"my.txt:5:1: missing host or path",
		"my.txt:6:6: unknown shape",
		"my.txt:7:16: white space in a name",
		"my.txt:8:3: '*' not at the end",
	}
	if err == nil {
		t.Fatal("no error")
	}
	got := strings.Split(err.Error(), "\n")
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("got\n%s\nwant\n%s", err, strings.Join(want, "\n"))
	}
	var pe *ParseError
	if !errors.As(err, &pe) || pe.Line != 2 {
		t.Errorf("%v is not a *ParseError", err)
	}
	var re *RuleError
	if _, err := ParseListRule("x*y", "user:rules.drop_params[2]"); !errors.As(err, &re) || re.Source != "user:rules.drop_params[2]" {
		t.Errorf("%v is not a *RuleError", err)
	}
}

func TestAllow(t *testing.T) {
	rules, err := Allow("shop.example.com/**", []string{"sku", "p_*"}, "user:rules.keep_params[0]")
	if err != nil {
		t.Fatal(err)
	}
	m := compile(t, &List{Name: "user", Version: "1", Rules: rules})
	var s Scratch
	out, _, _ := appendKeyQuery(nil, []byte("q=1&SKU=2&p_x=3&utm_source=4"), m, m.Site([]byte("shop.example.com"), []byte("/a"), &s), &s)
	if string(out) != "SKU=2&p_x=3" {
		t.Errorf("got %q", out)
	}
	out, _, _ = appendKeyQuery(nil, []byte("q=1"), m, m.Site([]byte("example.com"), []byte("/a"), &s), &s)
	if string(out) != "q=1" {
		t.Errorf("on another site: got %q", out)
	}
	if _, err := Allow("a", []string{"x*y"}, "here"); err == nil || !strings.HasPrefix(err.Error(), "here: ") {
		t.Errorf("got %v", err)
	}
}

func FuzzParsePlain(f *testing.F) {
	f.Add([]byte("a\nutm_*\n# x\nexample.com/p/**: sku ~int\n!keep\n@@x.*: /a[b]+/\n%3Fa\n"))
	f.Add([]byte(": \n ~any\n/\n//\n!!\n= : x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParsePlain("l", "1", data)
		if err != nil {
			return
		}
		if m, err := Compile(l); err == nil && len(m.rules) != len(l.Rules) {
			t.Fatalf("%q: %d rules of %d", data, len(m.rules), len(l.Rules))
		}
		for _, r := range l.Rules {
			var line int
			if _, err := fmt.Sscanf(r.Source, "l:%d", &line); err != nil || line < 1 {
				t.Fatalf("source %q", r.Source)
			}
		}
	})
}
