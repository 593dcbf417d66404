package peertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// lists are the files of the corpora with one URL, host or hostile string a
// line.
var lists = []string{
	"urls/kasztp.txt", "urls/isaacs_files.txt", "urls/opendns-top-domains.txt", "urls/blns.txt",
	"attack/payloads_Open-Redirect.txt", "attack/payloads_openredirects.txt", "attack/payloads_Traversal.txt",
	"attack/fuzzdb/JHADDIX_LFI.txt", "attack/fuzzdb/traversals-8-deep-exotic-encoding.txt",
	"attack/fuzzdb/naughty-unicode.txt", "attack/fuzzdb/redirect-urls-template.txt",
}

// jsonLists are the files of the corpora with a JSON object a line.
var jsonLists = []string{
	"urls/archiveorg2008_refs.jsonl", "attack/crs_requests_even.jsonl", "vectors/purell.jsonl",
	"vectors/crawler-commons.jsonl", "vectors/w3lib.jsonl", "vectors/urlcanon.jsonl", "vectors/safebrowsing.jsonl",
}

// Inputs returns the URLs of the shared test material, without duplicates, and
// 200,000 changed copies of them, or 20,000 with -short. It skips the test if
// URLFOLD_CORPORA is unset.
func Inputs(t testing.TB) [][]byte {
	t.Helper()
	n := 200000
	if testing.Short() {
		n = 20000
	}
	inputs := corpora(t)
	return append(inputs, mutate(inputs, n)...)
}

// corpora returns the URLs of the shared test material, without duplicates. It
// skips the test if URLFOLD_CORPORA is unset.
func corpora(t testing.TB) [][]byte {
	t.Helper()
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: lists of URLs; set URLFOLD_CORPORA to the folder of the corpora")
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var c collector
	for _, name := range lists {
		for line := range bytes.Lines(read(name)) {
			c.add(bytes.TrimRight(line, "\r\n"))
		}
	}
	for _, name := range jsonLists {
		c.addJSON(read(name))
	}
	var cases []any // some are comments
	if err := json.Unmarshal(read("whatwg/urltestdata.json"), &cases); err != nil {
		t.Fatal(err)
	}
	for _, row := range cases {
		if row, ok := row.(map[string]any); ok {
			c.add([]byte(row["input"].(string)))
		}
	}
	return c.urls
}

// A collector gathers different inputs.
type collector struct {
	urls [][]byte
	seen map[string]bool
}

func (c *collector) add(url []byte) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !c.seen[string(url)] {
		c.seen[string(url)] = true
		c.urls = append(c.urls, bytes.Clone(url))
	}
}

// addJSON adds the texts of JSON lines that are inputs or links.
func (c *collector) addJSON(lines []byte) {
	s := bufio.NewScanner(bytes.NewReader(lines))
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		var row map[string]any
		if json.Unmarshal(s.Bytes(), &row) != nil {
			continue
		}
		for _, name := range []string{"in", "input", "href", "ref", "url", "uri"} {
			if text, ok := row[name].(string); ok {
				c.add([]byte(text))
			}
		}
	}
}

// pieces are texts that mutation inserts: what canonicalizers trip over.
var pieces = []string{
	"%", "%2", "%25", "%2F", "%2f", "%41", "%7e", "%00", "%0a", "%zz", "%u0041", "%C3%A9", "%c3", "%E9", "%FF", "%2E%2e", "%23", "%3F", "%26", "%3D", "%2B", "%20", "%253A",
	"/", "//", "/./", "/../", "/..", "/.", "..", ".", "?", "??", "?a", "?a=", "&", "&&", "=", "==", ";", "a=1;b=2", "#", "##", "#f", ":", "::", "@", "@@", "u:p@", "user@", "[", "]", "[::1]", "[::ffff:1.2.3.4]", "[64:ff9b::102:304]", "[fe80::1%25en0]", "[1:2:3:4:5:6:7:8]",
	" ", "\t", "\n", "\r", "\x00", "\x7f", "\x80", "\xff", "\\", "|", "^", "`", "{", "}", "<", ">", "\"", "'", "+", "~", "*", "!", "$", "(", ")", ",", "_", "-",
	"http:", "https:", "HTTP://", "ftp://", "file:///", "mailto:", "javascript:", "http://", "https://", "//h", "www.", "WWW.", "www2.", ":80", ":443", ":8080", ":", ":0080", ":65536", ":99999999999",
	"index.html", "/index.html", "/default.asp", "/INDEX.php", "127.0.0.1", "0x7f000001", "017700000001", "2130706433", "0177.0.0.1", "0x7f.1", "1.2", "256.256.256.256", "4294967296", "1.2.3.4.5", "08.01.01.01",
	"é", "ü", "ß", "ς", "İ", "ǰ", "。", "．", "／", "：", "ａ", "Ａ", "ｶﾞ", "K", "日本", "مثال", "\u200d", "\u00ad", "\u0301", "e\u0301", "\u2028", "\u00a0", "\u3000", "\ufeff", "\ufffd", "😀", "\U000E0001", "xn--", "xn--a", "xn--bcher-kva", "xn--abc-", "XN--", "xn--é",
	"jsessionid=0123456789ABCDEF0123456789ABCDEF", "sid=x", "utm_source=x", "example.com", "a.b.c.d.e.f.g", "co.uk", "s3.amazonaws.com",
}

// mutate returns n inputs, each a member of seeds with up to four changes: a
// piece inserted, a range deleted, doubled or replaced, a byte changed, parts of
// two seeds joined. The same seeds give the same inputs.
func mutate(seeds [][]byte, n int) [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([][]byte, 0, n)
	for len(out) < n {
		u := bytes.Clone(seeds[random.IntN(len(seeds))])
		if len(u) > 400 {
			u = u[:400]
		}
		for range 1 + random.IntN(4) {
			at := random.IntN(len(u) + 1)
			end := min(at+1+random.IntN(8), len(u))
			switch random.IntN(8) {
			case 0, 1, 2, 3:
				u = splice(u, at, at, pieces[random.IntN(len(pieces))])
			case 4:
				u = splice(u, at, end, "")
			case 5:
				u = splice(u, at, at, string(u[at:end]))
			case 6:
				u = splice(u, at, end, pieces[random.IntN(len(pieces))])
			case 7:
				if other := seeds[random.IntN(len(seeds))]; len(other) > 0 {
					u = splice(u, at, len(u), string(other[random.IntN(len(other)):]))
				}
			}
		}
		out = append(out, u[:min(len(u), 2000)])
	}
	return out
}

// splice returns u with the bytes from start to end replaced.
func splice(u []byte, start, end int, text string) []byte {
	return append(append(append([]byte(nil), u[:start]...), text...), u[end:]...)
}
