// Package bench compares urlfold's codec with other URL libraries for Go, on
// the same URLs and in one process. It is a separate module so that these
// libraries are not in urlfold's go.mod.
package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Set is a list of URLs, each as bytes and as a string, so that no library
// needs a conversion.
type Set struct {
	Name    string
	URLs    [][]byte
	Strings []string
	Bytes   int // sum of the lengths
}

func newSet(name string, urls []string) *Set {
	s := &Set{Name: name, Strings: urls, URLs: make([][]byte, len(urls))}
	for i, u := range urls {
		s.URLs[i] = []byte(u)
		s.Bytes += len(u)
	}
	return s
}

// generatedSize is the number of URLs of a generated set.
const generatedSize = 20_000

// Generated returns the sets "clean", "mixed" and "dirty", which are the same
// on every machine: clean is already in normal form, mixed has an oddity in one
// URL of three, dirty several in each.
func Generated() []*Set {
	return []*Set{
		generate("clean", 0, 1),
		generate("mixed", 1, 3),
		generate("dirty", 1, 1),
	}
}

// Real returns the set "real": the lines of urls/kasztp.txt in the corpora,
// without the byte order mark at the start and without empty lines. It returns
// nil if URLFOLD_CORPORA is not set.
func Real() (*Set, error) {
	corpora := os.Getenv("URLFOLD_CORPORA")
	if corpora == "" {
		return nil, nil
	}
	b, err := os.ReadFile(filepath.Join(corpora, "urls", "kasztp.txt"))
	if err != nil {
		return nil, err
	}
	return newSet("real", lines(b)), nil
}

// Lines returns the set of the lines of a file, without empty ones.
func Lines(name string) (*Set, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return newSet(name, lines(b)), nil
}

// lines returns the lines of b, without a byte order mark at the start and
// without empty lines.
func lines(b []byte) (urls []string) {
	for line := range bytes.Lines(bytes.TrimPrefix(b, []byte("\ufeff"))) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			urls = append(urls, string(line))
		}
	}
	return urls
}

// generate returns a set in which num of every den URLs have oddities.
func generate(name string, num, den int) *Set {
	g := &generator{rand.New(rand.NewPCG(20261121, uint64(num*100+den)))}
	urls := make([]string, generatedSize)
	for i := range urls {
		urls[i] = g.url(g.IntN(den) < num, 2*num/den)
	}
	return newSet(name, urls)
}

type generator struct{ *rand.Rand }

var words = strings.Fields(`a about api archive article assets blog cart category comments css de docs
	download en faq feed forum gallery help images index item items js library list login media news
	order page photo post products profile public report search service shop static status store tag
	team topic update user users video view wiki`)

func (g *generator) word() string { return words[g.IntN(len(words))] }

// url returns an http or https URL in normal form or, if spoil is set, with at
// least one oddity and about extra more.
func (g *generator) url(spoil bool, extra int) string {
	p := parts{scheme: "https", host: g.word() + "." + g.word() + ".example", path: g.path(), query: g.query()}
	if g.IntN(4) == 0 {
		p.scheme = "http"
	}
	if g.IntN(2) == 0 {
		p.host = "www." + p.host
	}
	if spoil {
		for n := 1 + g.IntN(2*extra+1); n > 0; n-- {
			oddities[g.IntN(len(oddities))](g, &p)
		}
	}
	return p.scheme + "://" + p.host + p.port + p.path + p.query + p.fragment
}

func (g *generator) path() string {
	var b strings.Builder
	for n := 1 + g.IntN(5); n > 0; n-- {
		b.WriteString("/" + g.word())
		switch g.IntN(6) {
		case 0:
			b.WriteString("-" + g.word() + "-" + g.word())
		case 1:
			b.WriteString(strconv.Itoa(g.IntN(1_000_000)))
		}
	}
	return b.String() + [...]string{"", "", "/", ".html"}[g.IntN(4)]
}

func (g *generator) query() string {
	if g.IntN(2) == 0 {
		return ""
	}
	var b strings.Builder
	sep := "?"
	for n := 1 + g.IntN(3); n > 0; n-- {
		fmt.Fprintf(&b, "%s%s=%s", sep, g.word(), g.word())
		if g.IntN(3) == 0 {
			b.WriteString("%20" + g.word())
		}
		sep = "&"
	}
	return b.String()
}

type parts struct{ scheme, host, port, path, query, fragment string }

// oddities are the ways in which a URL is changed, from harmless spellings to
// malformed percent-encoding.
var oddities = []func(*generator, *parts){
	func(g *generator, p *parts) { p.scheme = strings.ToUpper(p.scheme) },
	func(g *generator, p *parts) { p.host = strings.ToUpper(p.host[:1]) + p.host[1:] },
	func(g *generator, p *parts) { p.port = map[string]string{"http": ":80"}[p.scheme] },
	func(g *generator, p *parts) { p.port = ":443" },
	func(g *generator, p *parts) { p.port = ":" + strconv.Itoa(1024+g.IntN(60000)) },
	func(g *generator, p *parts) { p.path += "/../" + g.word() },
	func(g *generator, p *parts) { p.path = "/." + p.path },
	func(g *generator, p *parts) { p.path += "%7e" + g.word() },
	func(g *generator, p *parts) { p.path += "%c3%a9" + g.word() },
	func(g *generator, p *parts) { p.path += "/%2E%2e/" + g.word() },
	func(g *generator, p *parts) { p.path += "/caf\u00e9" },
	func(g *generator, p *parts) { p.path += "/" + g.word() + " " + g.word() },
	func(g *generator, p *parts) { p.path += "/100%" },
	func(g *generator, p *parts) { p.path += "%zz" + g.word() },
	func(g *generator, p *parts) { p.path += "/a%2Fb%252Fc" },
	func(g *generator, p *parts) { p.path += "/{" + g.word() + "}|<x>" },
	func(g *generator, p *parts) { p.query = "?q=%u0041" + g.word() },
	func(g *generator, p *parts) { p.query = "?x=%E9%00&y=" + g.word() },
	func(g *generator, p *parts) { p.query = "?utm_source=" + g.word() + "&id=" + strconv.Itoa(g.IntN(1e6)) },
	func(g *generator, p *parts) { p.fragment = "#" + g.word() },
}
