package codec

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
	"github.com/zeebo/xxh3"
)

// TestTargetKey checks that the key of a target is the hash of the rest of the
// canonical string, and when there is none.
func TestTargetKey(t *testing.T) {
	const origin = "http://h"
	for _, src := range []string{origin + "/", origin + "/a?b#c", "HTTP://h/%7e", origin + "/a/?utm_source=x", origin + "//a", origin, origin + "?", "http://h.example/", "mailto:a@b"} {
		var r Result
		if _, err := byName("equiv").Append(nil, []byte(src), &r); err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		for _, lv := range keyedLevels {
			rest, within := strings.CutPrefix(string(r.AppendKey(nil, lv)), origin)
			want := Key{}
			if within = within && rest != "" && !strings.HasPrefix(rest, "//"); within {
				want = r.HashKey(lv, []byte(rest))
			}
			if got, ok := r.TargetKey(lv, []byte(origin)); got != want || ok != within {
				t.Errorf("%q at %v: %v, %v, want %v, %v", src, lv, got, ok, want, within)
			}
		}
	}
}

// TestSameKey checks at which level two URLs get the same key.
func TestSameKey(t *testing.T) {
	n := byName("rfc3986-scheme")
	key := func(lv Level, src string) Key {
		var r Result
		_, err := n.Append(nil, []byte(src), &r)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		return r.Key(lv)
	}
	f := func(a, b string, k0, k1 bool) {
		t.Helper()
		if got := key(LevelSyntax, a) == key(LevelSyntax, b); got != k0 {
			t.Errorf("%q and %q: same K0 is %v", a, b, got)
		}
		if got := key(LevelEquivalent, a) == key(LevelEquivalent, b); got != k1 {
			t.Errorf("%q and %q: same K1 is %v", a, b, got)
		}
	}
	// The example of RFC 3986 §6.2.2.
	f("example://a/b/c/%7Bfoo%7D", "eXAMPLE://a/./b/../b/%63/%7bfoo%7d", true, true)
	// The examples of §6.2.3.
	f("http://example.com", "http://example.com/", false, true)
	f("http://example.com:/", "http://example.com:80/", false, true)
	f("http://example.com/?", "http://example.com/", false, false)
	f("http://example.com/#", "http://example.com/", false, false)
	// §2.2: a reserved byte and its escape are not equivalent.
	f("http://h/a%2Fb", "http://h/a/b", false, false)
	f("http://h/?a%26b", "http://h/?a&b", false, false)
	f("http://h/?b=2&a=1", "http://h/?a=1&b=2", false, false)
	// §6.2.2.1: case matters in the path, not in the host.
	f("http://h/A", "http://h/a", false, false)
	f("http://H/a", "http://h/a", true, true)
	// SEMANTICS D2.1: a malformed '%' is the data byte '%'.
	f("http://h/100%", "http://h/100%25", true, true)
	f("http://h/%4%31", "http://h/%2541", true, true)
	f("file:/x", "file:///x", false, true)
	f("http://[::1]/", "http://[0:0::0:1]/", false, true)
	f("http://@h/", "http://h/", false, true)
	f("x://@h/", "x://h/", false, false)
	f("http://h:080/", "http://h/", false, true)
	f("http://h:443/", "https://h:443/", false, false)
}

// TestKeyDefinition compares the hashes with their definition in SEMANTICS
// section 1, written out.
func TestKeyDefinition(t *testing.T) {
	src := []byte("http://example.com/")
	secret := []byte("a secret of 16 b")
	for lv, id := range []string{"k0-rfc/1", "k1-rfc/1"} {
		x := xxh3.Hash128Seed(src, xxh3.Hash([]byte(id)))
		plain := sha256.Sum256([]byte(id + "\x00" + string(src)))
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(id + "\x00" + string(src)))
		b := x.Bytes()
		f := func(want []byte, opts ...Option) {
			t.Helper()
			n, err := New(byName("rfc3986-scheme").Profile(), opts...)
			if err != nil {
				t.Fatal(err)
			}
			var r Result
			_, _ = n.Append(nil, src, &r)
			if got := r.Key(LevelSyntax + Level(lv)).String(); got != hex.EncodeToString(want[:16]) {
				t.Errorf("%s: %s, want %x", id, got, want[:16])
			}
		}
		f(b[:])
		f(plain[:], WithHash(SHA256))
		f(m.Sum(nil), WithHMACKey(secret))
	}
}

func TestKeyText(t *testing.T) {
	k := Key{0x0123456789abcdef, 0xfedcba9876543210}
	text := "0123456789abcdeffedcba9876543210"
	if k.String() != text {
		t.Errorf("%s", k)
	}
	if got, err := ParseKey([]byte(strings.ToUpper(text))); got != k || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, s := range []string{"", text[1:], text + "0", strings.Replace(text, "0", "g", 1)} {
		var bad *KeyError
		if _, err := ParseKey([]byte(s)); !errors.As(err, &bad) || bad.Form != KeyHex {
			t.Errorf("%q: %v", s, err)
		}
	}
	if k.Compare(Key{k.hi, k.lo + 1}) != -1 || k.Compare(k) != 0 || k.Compare(Key{0, ^uint64(0)}) != 1 {
		t.Error("keys do not sort like their texts")
	}
	if b := k.AppendTo([]byte("x")); string(b) != "x"+text {
		t.Errorf("%q", b)
	}
}

// TestSecretUnused: a secret that the hash would not use is an error.
func TestSecretUnused(t *testing.T) {
	for _, opts := range [][]Option{
		{WithHMACKey([]byte("secret")), WithHash(XXH3)},
		{WithHMACKey([]byte("secret")), WithHash(SHA256)},
		{WithHash(SHA256), WithHMACKey(nil), WithHash(XXH3)},
	} {
		var bad *OptionError
		if _, err := New(byName("equiv").Profile(), opts...); (len(opts) == 2) != errors.As(err, &bad) {
			t.Errorf("%d options: %v", len(opts), err)
		}
	}
	if _, err := New(byName("equiv").Profile(), WithHash(SHA256), WithHMACKey([]byte("secret"))); err != nil {
		t.Error(err)
	}
}

// TestZeroKey checks that no URL has the zero key.
func TestZeroKey(t *testing.T) {
	if keyOf(make([]byte, 16)).IsZero() || !(Key{}).IsZero() {
		t.Error("a hash of zero gives the zero key")
	}
}

func TestNewRefuses(t *testing.T) {
	f := func(p Profile, want string, opts ...Option) {
		t.Helper()
		_, err := New(p, opts...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
	rfc := byName("rfc3986").Profile()
	f(Profile{}, "missing name")
	f(Profile{Name: "rfc3986"}, "built-in profile of the same name")
	f(Profile{Name: "x", Standard: RFC3986, Rules: Rules{1 << 63}}, "rule that profiles cannot choose")
	f(Profile{Name: "x", Standard: RFC3986, Malformed: 9}, "Malformed: unknown value")
	f(Profile{Name: "x", Standard: RFC3986, Key: 9}, "Key: unknown level")
	f(Profile{Name: "x", Standard: RFC3986, MaxLen: -1}, "MaxLen")
	f(Profile{Name: "x", Standard: RFC3986, MaxDiagnostics: -1}, "MaxDiagnostics")
	f(Profile{Name: "x", Standard: RFC3986, Rules: RulesOf(RuleDecodeUnreserved)}, "dot segments")
	f(Profile{Name: "x", Standard: RFC3986, Rules: RulesOf(RuleRemoveDots)}, "authority")
	f(rfc, "unknown hash", WithHash(99))
	f(rfc, "needs a key", WithHash(HMACSHA256))
	f(rfc, "needs a key", WithHMACKey(nil))
	var pe *ProfileError
	if _, err := New(Profile{}); !errors.As(err, &pe) {
		t.Errorf("%v is not a *ProfileError", err)
	}
	rfc.MaxLen = 10
	if _, err := New(rfc); err != nil {
		t.Errorf("a built-in profile with another limit: %v", err)
	}
}

// TestMalformedPolicies checks the three policies of SEMANTICS E0.
func TestMalformedPolicies(t *testing.T) {
	f := func(s percent.Malformed, src, want string, wantErr error) {
		t.Helper()
		n, err := New(Profile{Name: "x", Standard: RFC3986, Rules: Rules{syntaxRules}, Malformed: s})
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		got, err := n.Append(nil, []byte(src), &r)
		if err != wantErr || err == nil && string(got) != want {
			t.Errorf("%d: %q: %q, %v; want %q, %v", s, src, got, err, want, wantErr)
		}
		if err != nil && r.ErrAt != uint32(strings.IndexByte(src, '%')) {
			t.Errorf("%q: error at %d", src, r.ErrAt)
		}
	}
	f(percent.MalformedEncode, "http://h/%4%31%zz", "http://h/%2541%25zz", nil)
	f(percent.MalformedKeep, "http://h/%4%31%zz", "http://h/%4%31%zz", nil)
	f(percent.MalformedReject, "http://h/a%4%31%zz", "", ErrBadEscape)
	f(percent.MalformedReject, "http://h/%41", "http://h/A", nil)
}

func TestTooLong(t *testing.T) {
	p, _ := Lookup("rfc3986")
	p.MaxLen = 12
	n, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	if _, err := n.Append(nil, []byte("http://h/abc"), &r); err != nil {
		t.Error(err)
	}
	if out, err := n.Append([]byte("x"), []byte("http://h/abcd"), &r); err != ErrTooLong || r.ErrAt != 12 || string(out) != "x" {
		t.Errorf("%q, %v at %d", out, err, r.ErrAt)
	}
}

func TestNames(t *testing.T) {
	for lv := LevelSyntax; lv < allLevels; lv++ {
		if got, err := ParseLevel(lv.String()); got != lv || err != nil {
			t.Errorf("%v", lv)
		}
	}
	for h := XXH3; h <= HMACSHA256; h++ {
		var got Hash
		if err := got.UnmarshalText([]byte(h.String())); got != h || err != nil {
			t.Errorf("%v", h)
		}
	}
	for e := Error(1); e < numErrors; e++ {
		if e.Error() == "" || e.Name() == "" || e.Name() == "unknown" {
			t.Errorf("error %d has no text", e)
		}
	}
}

// TestKeysInAnyOrder checks that a key does not depend on the calls before it: the
// keys of a clean URL are all written to the same place, the copy of the URL.
func TestKeysInAnyOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	n := byName("equiv")
	levels := []Level{LevelSyntax, LevelEquivalent, LevelFetch, LevelPage, LevelShape}
	for _, src := range []string{
		"https://www.example.com/", "https://www.example.com/a/?c=1&b=2&utm_source=x", "http://www.example.com/index.html?b=%2C%20&a=" + strings.Repeat("x+", 30),
		"https://example.com/a/b?q=1", "https://www.example.com/a//b/?b=1&a=2", "https://h.example/a;jsessionid=1/default.asp?b&a#c", "https://www.example.com/?" + strings.Repeat("%20", 400),
		"HTTPS://www.example.com/a b/?c=1&b=2", "HTTPS://www.example.com/a/?b=%20&a=|", "https://www.example.com/a/?a=1&b=2#f",
		"http://www.example.com/a/index.html?q=a%20b", "https://192.0.2.1/a/?b&a", "https://example.com/?page_id=2&page_id=1&a",
	} {
		want := map[Level]Key{}
		for _, lv := range levels {
			var r Result
			if _, err := n.Append(nil, []byte(src), &r); err != nil {
				t.Fatal(err)
			}
			want[lv] = r.Key(lv)
		}
		var r Result
		if _, err := n.Append(nil, []byte(src), &r); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			if rnd.IntN(20) == 0 {
				n.Keeps([]byte("https://other.example/path?b=2&a=1"), &r)
			}
			lv := levels[rnd.IntN(len(levels))]
			if got := r.Key(lv); got != want[lv] {
				t.Fatalf("%q: %v is %v, alone %v", src, lv, got, want[lv])
			}
			if text := r.AppendKey(nil, lv); r.HashKey(lv, text) != want[lv] {
				t.Fatalf("%q: %v is not that of %q", src, lv, text)
			}
		}
	}
}
