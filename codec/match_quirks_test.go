package codec

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// matchQuirks names the bugs of the Python programs. The same names and inputs
// are in docs/reference/matching.md.
var matchQuirks = []struct{ profile, name, in, want string }{
	{"w3lib", "default-port-kept", "http://h:80/", "http://h:80/"},
	{"w3lib", "equals-added", "http://h/?a", "http://h/?a="},
	{"w3lib", "asterisk-escaped", "http://h/?*", "http://h/?%2A="},
	{"w3lib", "brackets-decoded", "http://h/[%7c]", "http://h/[|]"},
	{"w3lib", "params-kept", "http://h/x;b=%7e", "http://h/x;b=%7e"},
	{"w3lib", "future-literal", "http://[v1.ab]/", "http://v1.ab/"},
	{"w3lib", "raw-host", "http://a..b\u00fccher/", "http://a..b\u00fccher/"},
	{"w3lib", "final-sigma", "http://fa\u00df.de/", "http://fass.de/"},
	{"w3lib", "path-added", "mailto:", "mailto:/"},
	{"w3lib", "file-without-host", "http:/a", "http:///a"},
	{"surt-ia", "host-as-scheme", "example.com:80/x", "example.com:80/x"},
	{"surt-ia", "port-zero", "http://h:0/", "h)/"},
	{"surt-ia", "brackets-lost", "http://[::1]:8080/", "::1:8080)/"},
	{"surt-ia", "dots-above-root", "http://h/../a", "h)/../a"},
	{"surt-ia", "number-wraps", "http://4294967297/", "1,0,0,0)/"},
	{"surt-ia", "session-anywhere", "http://h/?classid=0123456789abcdef0123456789abcdef&a", "h)/?clasa"},
	{"surt-ia", "escaped-ampersand", "http://h/?b=1%26a", "h)/?a&b=1"},
	{"surt-ia", "www-digits", "http://www7.h/", "h)/"},
	{"surt-ia", "empty-input", "", "-"},
	{"ssurt", "zero-address", "http://0.0.0.0/", "0,0,0,0,//http:/"},
	{"ssurt", "commas-swapped", "http://a,b.c/", "c,a.b,//http:/"},
	{"ssurt", "scheme-first", "http?x:y", "http?x:y"},
	{"ssurt", "password-inside", "http://u:p@h/", "h,//http@u:p:/"},
	{"urlcanon-whatwg", "raw-host-kept", "http://A_B.example/", "http://A_B.example/"},
	{"urlcanon-whatwg", "zeros-kept", "http://h:080/", "http://h:080/"},
	{"urlcanon-google", "host-from-path", "//h/a", "http://a/"},
	{"urlcanon-google", "escaped-delimiters", "http://h/%3Fa%26b", "http://h/?a&b"},
	{"urlcanon-semantic", "host-is-scheme", "h.example:80/a", "h.example:80/a"},
	{"urlcanon-semantic-precise", "equals-escaped", "http://h/?a=b=c", "http://h/?a=b%3Dc"},
	{"urlcanon-aggressive", "every-second-session", "http://h/?sid=0123456789abcdef&sid=0123456789abcdef", "http://h/?sid=0123456789abcdef"},
	{"urlcanon-aggressive", "short-session-kept", "http://h/a;jsessionid=0123456789abcdef", "http://h/a;jsessionid=0123456789abcdef"},
}

// TestMatchQuirks checks each bug, and that the documents name it.
func TestMatchQuirks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "reference", "matching.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range matchQuirks {
		var r Result
		got, err := matchNormalizer(t, q.profile).Append(nil, []byte(q.in), &r)
		if err != nil || string(got) != q.want {
			t.Errorf("%s %s: %q becomes %q, error %v, want %q", q.profile, q.name, q.in, got, err, q.want)
		}
		if !bytes.Contains(page, []byte("| `"+q.name+"` |")) {
			t.Errorf("docs/reference/matching.md has no row for %s", q.name)
		}
	}
}
