package gsb

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/urlfold/urlfold/codec/safebrowsing"
	"github.com/urlfold/urlfold/internal/testkit/peertest"
)

// TestSpecification has the examples that the specification lists, which are the
// same in both versions.
func TestSpecification(t *testing.T) {
	for in, want := range map[string]string{
		"http://host/%25%32%35":                     "http://host/%25",
		"http://host/%25%32%35%25%32%35":            "http://host/%25%25",
		"http://host/%2525252525252525":             "http://host/%25",
		"http://host/asdf%25%32%35asd":              "http://host/asdf%25asd",
		"http://host/%%%25%32%35asd%%":              "http://host/%25%25%25asd%25%25",
		"http://www.google.com/":                    "http://www.google.com/",
		"http://3279880203/blah":                    "http://195.127.0.11/blah",
		"http://www.google.com/blah/..":             "http://www.google.com/",
		"www.google.com/":                           "http://www.google.com/",
		"www.google.com":                            "http://www.google.com/",
		"http://www.evil.com/blah#frag":             "http://www.evil.com/blah",
		"http://www.GOOgle.com/":                    "http://www.google.com/",
		"http://www.google.com.../":                 "http://www.google.com/",
		"http://www.google.com/q?":                  "http://www.google.com/q?",
		"http://www.google.com/q?r?":                "http://www.google.com/q?r?",
		"http://www.google.com/q?r?s":               "http://www.google.com/q?r?s",
		"http://evil.com/foo#bar#baz":               "http://evil.com/foo",
		"http://evil.com/foo;":                      "http://evil.com/foo;",
		"http://evil.com/foo?bar;":                  "http://evil.com/foo?bar;",
		"http://\x01\x80.com/":                      "http://%01%80.com/",
		"http://notrailingslash.com":                "http://notrailingslash.com/",
		"http://www.gotaport.com:1234/":             "http://www.gotaport.com/",
		"  http://www.google.com/  ":                "http://www.google.com/",
		"http:// leadingspace.com/":                 "http://%20leadingspace.com/",
		"http://%20leadingspace.com/":               "http://%20leadingspace.com/",
		"%20leadingspace.com/":                      "http://%20leadingspace.com/",
		"https://www.securesite.com/":               "https://www.securesite.com/",
		"http://host.com/ab%23cd":                   "http://host.com/ab%23cd",
		"http://host.com//twoslashes?more//slashes": "http://host.com/twoslashes?more//slashes",
		"http://www.google.com/foo\tbar\rbaz\n2":    "http://www.google.com/foobarbaz2",
		"http://%31%36%38%2e%31%38%38%2e%39%39%2e%32%36/%2E%73%65%63%75%72%65/%77%77%77%2E%65%62%61%79%2E%63%6F%6D/":              "http://168.188.99.26/.secure/www.ebay.com/",
		"http://195.127.0.11/uploads/%20%20%20%20/.verify/.eBaysecure=updateuserdataxplimnbqmn-xplmvalidateinfoswqpcmlx=hgplmcx/": "http://195.127.0.11/uploads/%20%20%20%20/.verify/.eBaysecure=updateuserdataxplimnbqmn-xplmvalidateinfoswqpcmlx=hgplmcx/",
		"http://host%23.com/%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B":                        "http://host%23.com/~a!b@c%23d$e%25f^00&11*22(33)44_55+",
	} {
		for _, v := range versions {
			if got := peertest.Apply(appendOf(v.make()), []byte(in)); got.Text != want {
				t.Errorf("%s of %q: %v, want %q", v.name, in, got, want)
			}
		}
	}
}

// TestVersions has what only version 5 specifies, and what both reject.
func TestVersions(t *testing.T) {
	for _, c := range []struct{ in, v4, v5 string }{
		{"http://[2001:0DB8:0000::1]/", "http://[2001:0db8:0000::1]/", "http://[2001:db8::1]/"},
		{"http://[::ffff:1.2.3.4]/", "http://[::ffff:1.2.3.4]/", "http://1.2.3.4/"},
		{"http://[64:ff9b::1.2.3.4]/", "http://[64:ff9b::1.2.3.4]/", "http://1.2.3.4/"},
		{"http://[0:0:1:0:0:0:0:0]:80/", "http://[0:0:1:0:0:0:0:0]/", "http://[0:0:1::]/"},
		{"http://[fe80::1%25en0]/", "http://[fe80::1%25en0]/", "http://[fe80::1%25en0]/"},
		{"http://b\u00fccher.de/\u00fc", "http://xn--bcher-kva.de/%C3%BC", "http://xn--bcher-kva.de/%C3%BC"},
		{"http://256.1.1.1/", "http://256.1.1.1/", "http://256.1.1.1/"},
		{"example.com:80/a", "http://example.com/a", "http://example.com/a"},
		{"http://h//../a", "http://h/a", "http://h/a"},
		{"http://h/a//../b", "http://h/a/b", "http://h/a/b"},
		{"mailto:a@b", "", ""},
		{"/a", "", ""},
		{"http://:80/", "", ""},
		{"http://.../", "", ""},
		{"", "", ""},
	} {
		for i, want := range []string{c.v4, c.v5} {
			got := peertest.Apply(appendOf(versions[i].make()), []byte(c.in))
			if got.Text != want || got.Rejected != (want == "") {
				t.Errorf("%s of %q: %v, want %q", versions[i].name, c.in, got, want)
			}
		}
	}
}

// TestRounds checks the limit of layers.
func TestRounds(t *testing.T) {
	for layers, ok := range map[int]bool{maxRounds - 1: true, maxRounds: false} {
		in := append([]byte("http://h/%"), bytes.Repeat([]byte("25"), layers-1)...)
		if _, got := NewV5().Append(nil, append(in, "41"...), nil); got != ok {
			t.Errorf("%d layers: %v, want %v", layers, got, ok)
		}
	}
}

// exceptions are the vectors of github.com/google/safebrowsing, an early client
// for version 4, that contradict the specification.
var exceptions = map[string]string{
	"http://www.google.com/q?":                  "it drops the query",
	"http://www.google.com/q?r?":                "it drops the query",
	"http://www.google.com/q?r?s":               "it drops the query",
	"http://www.google.com/q?r?s%3F":            "it drops the query",
	"http://evil.com/foo?bar;":                  "it drops the query",
	"http://host.com//twoslashes?more//slashes": "it drops the query",
	"http://some%1bhost.com/%1b":                "it writes escapes in lower case",
	"http://a.b.c.d.e.f.g.h.i/":                 "it takes up to seven labels of the host",
	"https://a.b.c.d.e.f.g.h.i/":                "it takes up to seven labels of the host",
	"a.b.c.d.e.f.g.h.i/":                        "it takes up to seven labels of the host",
}

// TestCorpusVectors checks the vectors of that client.
func TestCorpusVectors(t *testing.T) {
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: vectors/safebrowsing.jsonl; set URLFOLD_CORPORA to the folder of the corpora")
	}
	file, err := os.ReadFile(filepath.Join(dir, "vectors", "safebrowsing.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for s := bufio.NewScanner(bytes.NewReader(file)); s.Scan(); {
		var row struct {
			Profile string
			In      string
			Out     any
		}
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		got, known := peertest.Apply(appendOf(NewV4()), []byte(row.In)), false
		_, rejected := row.Out.(map[string]any)
		switch row.Profile {
		case "canonicalURL":
			known = got.Rejected == rejected && (rejected || got.Text == row.Out)
		case "generatePatterns":
			list := safebrowsing.Expressions([]byte(got.Text), safebrowsing.V4)
			slices.Sort(list)
			var want []string
			if out, ok := row.Out.([]any); ok {
				for _, text := range out {
					want = append(want, text.(string))
				}
			}
			slices.Sort(want)
			known = got.Rejected == rejected && slices.Equal(list, want)
		default:
			continue // parts of the two functions above
		}
		if row.In == "" && !rejected {
			continue // bytes that are not UTF-8: in TestSpecification
		}
		checked++
		if why := exceptions[row.In]; known == (why != "") {
			t.Errorf("%s of %q: %v; want %v; exception: %q", row.Profile, row.In, got, row.Out, why)
		}
	}
	if checked < 60 {
		t.Errorf("%d vectors, want at least 60", checked)
	}
}
