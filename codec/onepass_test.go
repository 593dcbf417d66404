package codec

import (
	"testing"

	"github.com/urlfold/urlfold/internal/ground/scan"
)

// TestWalked checks that onePass accepts URLs with common defects. If it gave
// up, all other tests would still pass, but the codec would be slow.
func TestWalked(t *testing.T) {
	for _, src := range []string{
		"HTTP://h/", "http://wWw.h/", "https://a_b.com/x", "https://\"www.h/", // scheme and host
		"http://h", "http://h?q", "http://h:80/", "http://h:8080", "https://1.2.3.4:443/a?b&amp;c#d", // port and path
		"http://h/a/../b%7e%2f%zz/%2E%2e/c", "http://h/a\\b c\x01|", "http://h/?a=%c3%a9&amp;b#\u00fc", // query and fragment
	} {
		for _, n := range walkNormalizers {
			if n.table != nil && !checkOnePass(t, n, []byte(src)) && !(n.profile.Standard == RFC3986 && src == "https://\"www.h/") {
				t.Errorf("%s: %q is left to the parsers", n.profile.Name, src)
			}
		}
	}
}

// TestCleanPorts checks that parseClean accepts ports in normal form.
func TestCleanPorts(t *testing.T) {
	for src, want := range map[string]bool{
		"http://h:8080/a?b#c": true, "http://1.2.3.4:443/": true, "https://h:80/": true, "https://h:65535/": true, "https://h:1/%C3%A9": true,
		"http://h:80/": false, "https://h:443/": false, "http://h:08/": false, "http://h:65536/": false, "http://h:100000/": false, "http://h:/": false, "http://h:8x/": false, "http://h:81": false, "http://h:81?": false,
	} {
		var u URL
		if _, _, ok := parseClean([]byte(src), &u, new(scan.Survey)); ok != want {
			t.Errorf("%q: clean is %v", src, ok)
		}
	}
}

// TestWebClasses checks that the survey marks each byte that the tables of the
// walk name. Without a mark, the walk would copy the byte.
func TestWebClasses(t *testing.T) {
	var s scan.Survey
	for name, table := range map[string]*walkTable{"rfc": rfcWalk, "whatwg": whatwgWalk, "verbatim": verbatimWalk} {
		for c := Path; c <= Fragment; c++ {
			for b, step := range table[c-Path] {
				text := []byte{'/', byte(b), 'x'}
				s.Read(text, 0, webClasses)
				marked := s.Next(1) == 1 || c == Fragment && s.NextHash(1) == 1
				delimits := b == '#' || b == '?' && c == Path // ends the component
				if step != stepRaw && !marked && !delimits {
					t.Errorf("%s, %v: %q is not marked", name, c, byte(b))
				}
			}
		}
	}
}
