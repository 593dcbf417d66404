package where

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"strings"
	"testing"
)

// TestPatternKinds checks how expressions are matched that people write.
func TestPatternKinds(t *testing.T) {
	for _, test := range []struct {
		text, want string // "search", "ends": regexp is not called; "filter": texts are looked for before it is called
	}{
		{`(?i)bot|spider|crawl|slurp|curl|wget|python|java|scan|monitor`, "search"},
		{`bot`, "search"},
		{`Google(bot|-Read)`, "search"},
		{`[Bb]ot`, "filter"}, // as if it were (?i:b)ot
		{`colou?r`, "search"},
		{`(?i)[bc]ot`, "search"},
		{`a\.b|é`, "search"},
		{`^(GET|POST)$`, "search at an end"},
		{`(?i)\.(js|css|png)$`, "search at an end"},
		{`^$`, "search at an end"},
		{`(?i)bot\b`, "filter"},
		{`^/api/v[0-9]+/users`, "filter"},
		{`(?i:bot)|Spider`, "filter"}, // the set looks for SPIDER too
		{`(?i)[b]ot|[a-d]x`, "search"},
		{`(ab|cd)+x`, "filter"},
		{`bot{2,3}`, "search"},
		{`.*bot.*`, "filter"},
		{`^a{3}.$`, "filter"},
		{`.`, "regexp"},
		{`(?i)ünïcode`, "regexp"},
		{"\uFFFDabc", "regexp"},
		{`a.b`, "regexp"},
		{`[a-z]+`, "regexp"},
	} {
		p, err := newPattern(test.text)
		if err != nil {
			t.Fatal(err)
		}
		got := "filter"
		switch {
		case p.set == nil:
			got = "regexp"
		case p.exact && (p.start || p.end):
			got = "search at an end"
		case p.exact:
			got = "search"
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
}

// regexps makes regular expressions of the kinds that people write, and texts that nearly
// match.
type regexps struct {
	*rand.Rand
	python bool // only what Python reads in the same way, and UTF-8
}

func (r regexps) of(list ...string) string { return list[r.IntN(len(list))] }

var words = []string{"bot", "Spider", "crawl", "curl/", "a", "ab", "sk", "Kk", "É", "/api/", ".js", "java", "ss", "scan", "x-y"}

func (r regexps) expression(depth int) string {
	switch n := r.IntN(12); {
	case n < 4 || depth > 2:
		return regexp.QuoteMeta(r.of(words...))
	case n < 6:
		list := []string{}
		for range 1 + r.IntN(5) {
			list = append(list, r.expression(depth+1))
		}
		return r.of("(", "(?:", "(?i:") + strings.Join(list, "|") + ")"
	case n == 6:
		if list := []string{"[bs]", "[Bb]", "[^a]", "[0-9]", "[a-d]", ".", "[kK]", "(?i:s)"}; r.python {
			return r.of(list...)
		}
		return r.of(`\d`, `\w`, `\b`, "(?i)s", "(?U)s*", `\pL`)
	case n == 7:
		return "(?:" + r.expression(depth+1) + ")" + r.of("?", "*", "+", "{2}", "{0,2}", "{1,3}")
	case n == 8:
		return r.of("^", "") + r.expression(depth+1) + r.of("$", "")
	default:
		return r.expression(depth+1) + r.expression(depth+1)
	}
}

func (r regexps) whole() string {
	return r.of("", "", "(?i)") + r.of("", "", "", "^") + r.expression(0) + r.of("", "", "", "$")
}

// text returns a text that has pieces of the words, in any case.
func (r regexps) text() string {
	var b strings.Builder
	for range r.IntN(6) {
		w := r.of(words...)
		switch r.IntN(6) {
		case 0:
			w = strings.ToUpper(w)
		case 1:
			w = strings.ToValidUTF8(w[:r.IntN(len(w)+1)], "")
		case 2:
			w = strings.NewReplacer("s", "\u017F", "k", "\u212A").Replace(w)
		case 3:
			if w += r.of(" ", "\u2013", "7", "é", "\x00"); !r.python {
				w += "\xff"
			}
		}
		b.WriteString(w)
	}
	return b.String()
}

// TestPatternRandom compares 10,000 expressions with package regexp.
func TestPatternRandom(t *testing.T) {
	r := regexps{rand.New(rand.NewPCG(38, 3)), false}
	kinds := map[string]int{}
	for range 10_000 {
		r.python = !r.python
		text := r.whole()
		re, err := regexp.Compile(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		p, err := newPattern(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		kinds[fmt.Sprintf("set %v, exact %v", p.set != nil, p.exact)]++
		for range 20 {
			value := r.text()
			if got, want := p.match([]byte(value)), re.MatchString(value); got != want {
				t.Fatalf("%q matches %q: %v, want %v", value, text, got, want)
			}
		}
	}
	t.Log(kinds)
	for _, kind := range []string{"set true, exact true", "set true, exact false", "set false, exact false"} {
		if kinds[kind] < 500 {
			t.Errorf("only %d expressions with %s", kinds[kind], kind)
		}
	}
}

// FuzzPattern compares any expression with package regexp.
func FuzzPattern(f *testing.F) {
	f.Add(`(?i)bot|s[kx]`, "a \u017Fk")
	f.Add(`^a|b$`, "b")
	f.Fuzz(func(t *testing.T, text, value string) {
		re, err := regexp.Compile(text)
		if err != nil || len(text) > 200 {
			return
		}
		p, err := newPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.match([]byte(value)), re.MatchString(value); got != want {
			t.Errorf("%q matches %q: %v, want %v", value, text, got, want)
		}
	})
}

// TestNetwork compares networks with arithmetic on the bits of addresses.
func TestNetwork(t *testing.T) {
	r := rand.New(rand.NewPCG(38, 4))
	address := func() netip.Addr {
		if r.IntN(2) == 0 {
			return netip.AddrFrom4([4]byte{192, 0, byte(r.IntN(4)), byte(r.Uint32())})
		}
		return netip.AddrFrom16([16]byte{0x20, 1, 0xD, 0xB8, byte(r.IntN(2)), 15: byte(r.Uint32())})
	}
	bits := func(a netip.Addr, n int) (s string) {
		for _, b := range a.AsSlice() {
			s += fmt.Sprintf("%08b", b)
		}
		return s[:n]
	}
	for range 5000 {
		a, b := address(), address()
		n := r.IntN(b.BitLen() + 1)
		net := netip.PrefixFrom(b, n).Masked()
		p, err := parseNetwork(net.String())
		got, ok := addressOf([]byte(a.String()))
		if err != nil || p != net || !ok || got != a {
			t.Fatalf("%v: %v, %v; %v: %v, %v", net, p, err, a, got, ok)
		}
		if want := a.BitLen() == b.BitLen() && bits(a, n) == bits(b, n); p.Contains(got) != want {
			t.Errorf("%v in %v: %v", a, net, !want)
		}
	}
	for _, text := range []string{"", "-", "a", "example.com", "1", "dead", "192.0.2", "192.0.2.256", "192.0.2.1 ", "::g", "%", "192.0.2.1%a", "é:"} {
		if addr, ok := addressOf([]byte(text)); ok {
			t.Errorf("%q is %v", text, addr)
		}
	}
	if addr, ok := addressOf([]byte("fe80::1%eth0")); !ok || addr.String() != "fe80::1" {
		t.Errorf("with a zone: %v, %v", addr, ok)
	}
}
