package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// TestNamed checks what an unknown profile, a nil option and a Normalizer that
// New did not make lead to.
func TestNamed(t *testing.T) {
	var unknown *codec.NameError
	_, err := codec.Named("equi")
	if !errors.As(err, &unknown) || err.Error() != `unknown profile "equi" (did you mean "equiv"?)` {
		t.Errorf("%v", err)
	}
	func() {
		defer func() {
			if err, ok := recover().(error); !ok || !errors.As(err, &unknown) {
				t.Errorf("MustNamed panics with %v", err)
			}
		}()
		codec.MustNamed("")
	}()
	var option *codec.OptionError
	for name, o := range map[string]codec.Option{"nil": nil, "nil policy": codec.WithPolicy(nil)} {
		if _, err := codec.Named("equiv", o); !errors.As(err, &option) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var zero codec.Normalizer
	var r codec.Result
	for _, src := range []string{"", "http://h/", "HTTP://h/%7e", "a"} {
		for _, base := range []string{"", "http://h/"} {
			out, err := zero.AppendRef([]byte("x"), []byte(base), []byte(src), &r)
			if string(out) != "x" || !errors.As(err, &option) || !strings.Contains(err.Error(), "made by New") {
				t.Errorf("%q beside %q: %q, %v", src, base, out, err)
			}
		}
	}
	if _, _, err := zero.Normalize("http://h/"); !errors.As(err, &option) {
		t.Errorf("Normalize: %v", err)
	}
}

// TestPolicyCopy checks that neither the policy that was passed to New nor the
// one that Policy returns changes the keys of a Normalizer.
func TestPolicyCopy(t *testing.T) {
	key := func(n *codec.Normalizer) string {
		var r codec.Result
		if _, err := n.AppendString(nil, "https://h/?utm_source=x#!a", &r); err != nil {
			t.Fatal(err)
		}
		return string(r.AppendKey(nil, codec.LevelFetch))
	}
	spoil := func(p *codec.Policy) {
		p.KeepHTTPS, p.Params = true, new(params.Matcher)
		if len(p.SPA) > 0 {
			p.SPA[0] = "elsewhere.example"
		}
	}
	n := codec.MustNamed("crawler")
	spoil(n.Policy())
	for name, n := range map[string]*codec.Normalizer{"the same": n, "a new one": codec.MustNamed("crawler")} {
		if got := key(n); got != "http://h/" {
			t.Errorf("%s: %q", name, got)
		}
	}
	own := codec.DefaultPolicy()
	own.SPA = []string{"h"}
	n = codec.MustNamed("equiv", codec.WithPolicy(own))
	spoil(own)
	spoil(n.Policy())
	if got := key(n); got != "http://h/#!a" {
		t.Errorf("with a policy: %q", got)
	}
}

// TestURLError checks the offsets of errors of calls without a Result.
func TestURLError(t *testing.T) {
	f := func(what string, err error, code codec.Error, offset int) {
		t.Helper()
		var e *codec.URLError
		if !errors.As(err, &e) || e.Code != code || e.Offset != offset || !errors.Is(err, code) {
			t.Errorf("%s: %v: %+v", what, err, e)
		}
	}
	n := codec.MustNamed("whatwg")
	_, _, err := n.Normalize("http://h:99999/")
	f("Normalize", err, codec.ErrPortInvalid, 9)
	_, _, err = n.Normalize("http://h/" + strings.Repeat("a", codec.DefaultMaxLen))
	f("Normalize", err, codec.ErrTooLong, codec.DefaultMaxLen)
	_, err = codec.Resolve(nil, []byte("http://h/"), []byte("//a[b/"))
	f("Resolve", err, codec.ErrHostInvalid, 3)
	_, err = codec.Resolve(nil, []byte("a"), []byte("b"))
	f("Resolve", err, codec.ErrBase, 0)
}

// TestAppendString checks that a string is normalized as its bytes are, without
// memory of its own.
func TestAppendString(t *testing.T) {
	n := codec.MustNamed("crawler")
	var r, want codec.Result
	var out []byte
	for _, src := range []string{"HTTP://h:80/%7e#a", "http://h/a?b", "http://[", ""} {
		got, err := n.AppendString(nil, src, &r)
		norm, errBytes := n.Append(nil, []byte(src), &want)
		if string(got) != string(norm) || err != errBytes || err == nil && r.Key(0) != want.Key(0) {
			t.Errorf("%q: %q, %v; as bytes %q, %v", src, got, err, norm, errBytes)
		}
		if allocs := testing.AllocsPerRun(100, func() { out, _ = n.AppendString(out[:0], src, &r) }); allocs != 0 {
			t.Errorf("%q: %v allocations", src, allocs)
		}
	}
}

// TestKeyVersion checks that the version names whatever keys depend on.
func TestKeyVersion(t *testing.T) {
	seen := map[string]string{}
	keeps := codec.DefaultPolicy()
	keeps.KeepHTTPS = true
	for name, n := range map[string]*codec.Normalizer{
		"crawler": codec.MustNamed("crawler"), "rfc": codec.MustNamed("crawler", codec.WithStandard(codec.RFC3986)),
		"sha": codec.MustNamed("crawler", codec.WithHash(codec.SHA256)), "policy": codec.MustNamed("crawler", codec.WithPolicy(keeps)), "page": codec.MustNamed("analytics"),
	} {
		v := n.KeyVersion(codec.LevelDefault)
		if v != n.KeyVersion(n.Profile().Key) || seen[v] != "" || !strings.HasPrefix(v, n.KeyFunction(0)+";") {
			t.Errorf("%s: %q, as %q", name, v, seen[v])
		}
		seen[v] = name
	}
	if got := codec.MustNamed("equiv").KeyVersion(codec.LevelEquivalent); got != "k1-whatwg/1;xxh3-128" {
		t.Errorf("%q", got)
	}
}
