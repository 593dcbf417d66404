package surt

import (
	"bytes"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// components returns the components of text, even if it cannot be parsed.
func components(text []byte) codec.URL {
	var r codec.Result
	_ = codec.Parse(text, &r) // the components are set even on error
	return r.In
}

// normalizers are the built-in profiles.
var normalizers = func() (ns []*codec.Normalizer) {
	for _, p := range codec.Profiles() {
		n, err := codec.New(p)
		if err != nil {
			panic(err)
		}
		ns = append(ns, n)
	}
	return ns
}()

func byName(name string) *codec.Normalizer {
	for _, n := range normalizers {
		if n.Profile().Name == name {
			return n
		}
	}
	panic("no profile " + name)
}

// sortKey returns the SURT of key.
func sortKey(key string, o Options) string {
	u := components([]byte(key))
	return string(Append(nil, []byte(key), &u, o))
}

func TestAppend(t *testing.T) {
	f := func(key, plain, full string) {
		t.Helper()
		if got := sortKey(key, Options{}); got != plain {
			t.Errorf("%q: %q, want %q", key, got, plain)
		}
		if got := sortKey(key, Options{WithScheme: true, TrailingComma: true}); got != full {
			t.Errorf("%q: %q, want %q", key, got, full)
		}
	}
	f("http://example.com/", "com,example)/", "http://(com,example,)/")
	f("http://www.example.com:8080/a?b#c", "com,example,www:8080)/a?b#c", "http://(com,example,www,:8080)/a?b#c")
	f("http://localhost/?#", "localhost)/?#", "http://(localhost,)/?#") // present but empty
	f("http://u:p@h.x/", "x,h)/", "http://(x,h,)/")                     // userinfo is omitted
	f("ws://h", "h)", "ws://(h,)")
	// Addresses keep their order and their brackets.
	f("http://1.2.3.4/", "1.2.3.4)/", "http://(1.2.3.4)/")
	f("http://[2001:db8::1]:81/", "[2001:db8::1]:81)/", "http://([2001:db8::1]:81)/")
	f("http://[v1.a,b]/", "[v1.a,b])/", "http://([v1.a,b])/")
	// Empty labels, a trailing dot, commas in labels (sub-delims, RFC 3986
	// §3.2.2).
	f("http://example.com./", "com,example.)/", "http://(com,example,.)/")
	f("http://a..b/", "b,,a)/", "http://(b,,a,)/")
	f("http://./", ".)/", "http://(,.)/")
	f("http://a,b.c/x,y", "c,a%2cb)/x,y", "http://(c,a%2cb,)/x,y")
	f("http://a%2Cb.c/", "c,a%2Cb)/", "http://(c,a%2Cb,)/")
	f("x://a)b/)", "a)b)/)", "x://(a)b,)/)")
	// Without authority or with an empty host.
	f("mailto:a@b.c?d", ")mailto:a@b.c?d", "mailto:a@b.c?d")
	f("/a/b", ")/a/b", "/a/b")
	f("file:///a", ")/a", "file://()/a")
	f("//h.x/a", "x,h)/a", "//(x,h,)/a")
	f("", ")", "")

	git := []byte("git://a.b,c/d")
	var r codec.Result
	norm, err := byName("whatwg").Append(nil, git, &r)
	if err != nil || r.Out.HostKind() != codec.HostOpaque {
		t.Fatalf("%q: %v, %v", norm, err, r.Out.HostKind())
	}
	if got := Append(nil, norm, &r.Out, Options{}); string(got) != "a.b%2cc)/d" {
		t.Errorf("opaque host: %q", got)
	}
}

// slowUnSURT parses a SURT into host, port, path, query and fragment, each with
// its delimiter if present. A host that Append does not reverse is returned
// unchanged.
func slowUnSURT(s string, o Options) (parts [5]string) {
	if o.WithScheme {
		_, s, _ = strings.Cut(s, "//(")
	}
	end := strings.IndexAny(s, "/?#")
	if end < 0 {
		end = len(s)
	}
	authority := strings.TrimSuffix(s[:end], ")")
	s = s[end:]
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		authority, parts[1] = authority[:i], authority[i:]
	}
	if i := strings.IndexByte(s, '#'); i >= 0 {
		s, parts[4] = s[:i], s[i:]
	}
	if i := strings.IndexByte(s, '?'); i >= 0 {
		s, parts[3] = s[:i], s[i:]
	}
	parts[2] = s
	if !strings.HasPrefix(authority, "[") {
		authority = slowForward(authority, o.TrailingComma)
	}
	parts[0] = authority
	return parts
}

// slowForward restores the order of the labels of a host.
func slowForward(host string, trailingComma bool) string {
	name := strings.TrimSuffix(host, ".")
	root := host[len(name):]
	if trailingComma && !strings.HasSuffix(name, ",") || !strings.Contains(name, ",") {
		return strings.ReplaceAll(host, "%2c", ",")
	}
	if trailingComma {
		name = strings.TrimSuffix(name, ",")
	}
	labels := strings.Split(name, ",")
	slices.Reverse(labels)
	return strings.ReplaceAll(strings.Join(labels, "."), "%2c", ",") + root
}

// FuzzSURT checks that a SURT can be parsed back, except for the omitted parts.
func FuzzSURT(f *testing.F) {
	for i := range normalizers {
		for _, s := range []string{"http://a,b.c%2Cd.e.:1/,?,#,", "", "/", "http://u:p@h/", "mailto:a@b", "http://[::1]:80/a/../b", "HTTP://Ex%41mple.com:0080/a/../b%zz?q=\u00fc#x", "file:///C|/x", "git://a,b/c", "x://a)b:1", "http://.a.b../", "//,", "http://1.2.3.4:5?x"} {
			f.Add(byte(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		n := normalizers[int(which)%len(normalizers)]
		var r codec.Result
		_, err := n.Append(nil, src, &r)
		if err != nil {
			return
		}
		key := r.AppendKey(nil, codec.LevelEquivalent)
		u := components(key)
		var want [5]string
		for i, c := range []codec.Component{codec.Host, codec.Port, codec.Path, codec.Query, codec.Fragment} {
			want[i] = string(appendPart(nil, " :/?#"[i], key, &u, c))
		}
		want[0], want[2] = strings.TrimPrefix(want[0], " "), want[2][1:]
		for _, o := range []Options{{}, {TrailingComma: true}, {WithScheme: true}, {true, true}} {
			s := string(Append(nil, key, &u, o))
			if !u.HasAuthority() {
				if s != string(key) && (o.WithScheme || s != ")"+string(key)) {
					t.Fatalf("%q -> %q", key, s)
				}
			} else if got := slowUnSURT(s, o); got != want {
				t.Fatalf("%q -> %q -> %q, want %q", key, s, got, want)
			}
		}
	})
}

// TestOrder checks that a domain sorts next to its subdomains, and that with
// TrailingComma exactly these have the prefix of the domain.
func TestOrder(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	labels := []string{"a", "b", "a-b", "ab", "a0", "0", "x--y", "zz"}
	var keys []string
	for range 2000 {
		host := labels[rnd.Intn(len(labels))]
		for range rnd.Intn(4) {
			host = labels[rnd.Intn(len(labels))] + "." + host
		}
		keys = append(keys, "http://"+host+"."[rnd.Intn(2):]+[]string{"", ":81"}[rnd.Intn(2)]+"/"+labels[rnd.Intn(len(labels))])
	}
	o := Options{TrailingComma: true}
	slices.SortFunc(keys, func(a, b string) int { return strings.Compare(sortKey(a, o), sortKey(b, o)) })
	for _, domain := range []string{"a", "b.a", "a-b", "a.ab", "x--y.a.b"} {
		u := components([]byte("http://" + domain))
		prefix := sortKey("http://"+domain, o)
		prefix = strings.TrimSuffix(prefix, ")")
		runs, last := 0, false
		for _, key := range keys {
			u = components([]byte(key))
			host := strings.TrimSuffix(string(u.Bytes([]byte(key), codec.Host)), ".")
			in := host == domain || strings.HasSuffix(host, "."+domain)
			if in != strings.HasPrefix(sortKey(key, o), prefix) {
				t.Errorf("%q below %q: %v, but its SURT is %q", key, domain, in, sortKey(key, o))
			}
			if in && !last {
				runs++
			}
			last = in
		}
		if runs != 1 {
			t.Errorf("%q and its subdomains are in %d separate runs", domain, runs)
		}
	}
}

// TestPlainOrder checks the same without the comma, which works for hosts of
// letters, digits and hyphens without a port and a trailing dot.
func TestPlainOrder(t *testing.T) {
	hosts := []string{"a.b", "x.a.b", "a-.b", "a-b.b", "a0.b", "ab.b", "y.x.a.b", "x-.a.b", "b", "b-"}
	var got []string
	for _, h := range hosts {
		got = append(got, sortKey("http://"+h+"/", Options{}))
	}
	slices.Sort(got)
	want := []string{"b)/", "b,a)/", "b,a,x)/", "b,a,x,y)/", "b,a,x-)/", "b,a-)/", "b,a-b)/", "b,a0)/", "b,ab)/", "b-)/"}
	if !slices.Equal(got, want) {
		t.Errorf("sorted: %q", got)
	}
}

func TestNoAllocs(t *testing.T) {
	key := []byte("http://u@www.example.com.:81/a?b#c")
	u := components(key)
	dst := make([]byte, 0, 256)
	f := func(name string, call func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	f("Append", func() { Append(dst, key, &u, Options{true, true}) })
	if out := Append([]byte("canary"), key, &u, Options{}); !bytes.HasPrefix(out, []byte("canarycom,")) {
		t.Errorf("%q", out)
	}
}
