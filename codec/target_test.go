package codec

import (
	"bytes"
	"testing"
)

// FuzzKeepsTarget checks that a target which KeepsTarget accepts is not changed
// after any front that is not changed itself.
func FuzzKeepsTarget(f *testing.F) {
	for i := range fuzzNormalizers {
		for _, s := range seeds {
			f.Add(byte(i), []byte(s))
			f.Add(byte(i), append([]byte{'/'}, s...))
		}
		for _, s := range []string{"/a/b.png?c=d&e=%C3%A9", "/;a,b/c:d@e?f/?g", "//a", "/?a?b", "/%20%2F"} {
			f.Add(byte(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, target []byte) {
		n := fuzzNormalizers[int(which)%len(fuzzNormalizers)]
		var r, scratch Result
		query, ok := n.KeepsTarget(exact(target), &scratch)
		if !ok {
			return
		}
		for _, front := range []string{"http://h", "https://www.example.com:8443", "http://1.2.3.4"} {
			src := append([]byte(front), target...)
			norm, err := n.Append(nil, src, &r)
			if err != nil || !bytes.Equal(norm, src) || !r.Flags.IsZero() || r.Change() != ChangeUnchanged || !r.Applied().IsZero() {
				t.Fatalf("KeepsTarget accepts %q, but %q is %q: %v, flags %s", target, src, norm, err, r.Flags.AppendTo(nil))
			}
			if !bytes.Equal(query, r.In.Bytes(src, Query)) || r.In.Has(Query) != (query != nil) {
				t.Fatalf("query %q of %q, want %q", query, target, r.In.Bytes(src, Query))
			}
		}
	})
}

func TestKeepsTarget(t *testing.T) {
	var r Result
	for target, want := range map[string]bool{
		"/": true, "/a/b.png?c=d&e=%C3%A9": true, "/?": true, "//a": true,
		"": false, "a": false, "?a": false, "/#": false, "/./": false, "/a%7e": false, "/?&amp;": false, "/ ": false, "/\\": false,
	} {
		for _, n := range fuzzNormalizers {
			if _, got := n.KeepsTarget([]byte(target), &r); got != want {
				t.Errorf("%s: KeepsTarget(%q) is %v", n.Profile().Name, target, got)
			}
		}
	}
}

// FuzzKeeps checks that Append does not change a URL which Keeps accepts.
func FuzzKeeps(f *testing.F) {
	for i := range fuzzNormalizers {
		for _, s := range seeds {
			f.Add(byte(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		n := fuzzNormalizers[int(which)%len(fuzzNormalizers)]
		var r, scratch Result
		query, ok := n.Keeps(exact(src), &scratch)
		if !ok {
			return
		}
		norm, err := n.Append(nil, src, &r)
		if err != nil || !bytes.Equal(norm, src) || !r.Flags.IsZero() || r.Change() != ChangeUnchanged || !r.Applied().IsZero() {
			t.Fatalf("Keeps accepts %q, but the normal form is %q: %v, flags %s", src, norm, err, r.Flags.AppendTo(nil))
		}
		if !bytes.Equal(query, r.In.Bytes(src, Query)) || r.In.Has(Query) != (query != nil) {
			t.Fatalf("query %q of %q", query, src)
		}
	})
}

func TestKeeps(t *testing.T) {
	var r Result
	for url, want := range map[string]bool{
		"http://h/": true, "https://www.example.com/a/b.png?c=d&e=%C3%A9": true, "http://1.2.3.4:8080/?": true,
		"": false, "/": false, "http://h": false, "http://h/#": false, "http://H/": false, "http://h:80/": false, "http://u@h/": false,
		"http://h/./": false, "http://h/?&amp;": false, "ftp://h/": false, "http://h/ ": false,
	} {
		for _, n := range fuzzNormalizers {
			if _, got := n.Keeps([]byte(url), &r); got != want {
				t.Errorf("%s: Keeps(%q) is %v", n.Profile().Name, url, got)
			}
		}
	}
}
