package codec

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/ground/scan"
)

// seeds are the URLs that every fuzz target starts with.
var seeds = []string{
	"", "?", "#", "/", "//", "a:", "http://h/a?b#c", "HTTPS://User:Pw@Ex%41mple.COM:0443/a/./b/../c%7e%2f%zz?q=ü x&amp;y=%#%4",
	"http://[0::1]:/", "http://[::FFFF:1.2.3.4]/", "http://[v1.a]/", "http://[fe80::1%25eth0]/", "http://[x y]/", // IP literals
	"file:/x", "file://localhost/y", "file:/.//b", "file://LOCALHOST", "file:x", // RFC 8089
	"a:/..//b", "a:b:c", "1a:b", "a%3Ab:c", "./a:b", "%41:b", "a/../b", "a:../b", // guards
	"http://0x7f.1/", "http://1.2.3.256/", "http://evil.com\\@good.com/", "http://h:99999/", "http://h:8x/", "http://@h/", "http://:@h/", // authority
	"http:///x", "http:x", "http:/x", "//h/%2e%2E/x", "http://h/%2e./%2E%2e%2fx", "/%252541", "/%C0%AF%ED%A0%80%EF%BF%BF%00%0A%u0041", // escapes
	"http://h/a//../b", "http://h/..", "http://h/.", "http://h/a/.?b", "http://h/.a/..b/...", // dots
	"http://h\t/", "ws://h:80", "ftp://h:21", "wss://h:443/", "http://h]/", "http://[::1", "http://[::1]x/",
	"http://b\u00fccher.example/", "http://fa\u00df.de/", "http://xn--a/", "http://a\u200db.com/", "http://\uff11.2.3.4/", "http://%C3%BC%/", // UTS 46
	"http://h/a|b[c]?d|e[f]^`{}#g|h", "file:///%43|/x", "non-special:a b ?x", "http://h/..//x", // the standards differ
	"\x00\x7f\xff", "http://a.b.c/path/to/page.html?x=1;y=2#frag?/",
}

// walkSeeds are further seeds for FuzzOnePass: URLs that need special treatment
// in the walk. They are not in seeds, because the golden files contain the
// results for seeds and must not change.
var walkSeeds = []string{
	"http://h/a\\b\\\\c", "http://h/a\\..\\b", "http://h/..\\b", "http://h/%2e%2E\\b", "http://h/a/%zz/../|/..?|", "http://h/a//%2e./%2e", "http://h/..%2f/../..", // '\\' and dots
	"http://a_b.c_d/", "http://x._y\"z\"{.com:80/|", "http://\"www.h/", "HTTP://A!$.1_/", "http://a.0x_/", "http://_/", // odd hosts
	"http://1.2.3.4:8080/", "http://1.2.3.4/", "http://1.2.3.4./", "http://1.2.3/", "http://h/\x01?\x02#\x03", "http://h/?a#b ",
	"https://h:443/a?b&amp;c#d", "https://h.example:443/%7e", "https://h:443/#a#", "http://h:80/", "https://h:80/a;b?c;", "http://h:65535/", "http://h:65536/", "http://h:080/", // ports
	"HTTP://h/a#", "http://h/%7e?#", "HTTP://u@h/", // what frag-drop and ui-drop remove
	"http://h/?" + strings.Repeat("..%2f", 20), "http://h/?" + strings.Repeat("%zz|", 20), "http://h/" + strings.Repeat("%zz|/..%2f", 9), // more diagnostics than are recorded
}

// fuzzNormalizers are the profiles that a fuzz input selects from.
var fuzzNormalizers = func() (ns []*Normalizer) {
	clean := Profile{Name: "equiv-clean", Standard: WHATWG, Rules: Rules{escapeRules | 1<<RuleRFCClean}, Key: LevelEquivalent}
	for _, p := range append(standardProfiles(), clean) {
		ns = append(ns, mustNew(p))
	}
	return ns
}()

// walkNormalizers are fuzzNormalizers and profiles that add the rules of
// onePass one by one.
var walkNormalizers = append(slices.Clip(fuzzNormalizers),
	mustNew(Profile{Name: "whatwg-upper", Standard: WHATWG, Rules: RulesOf(RuleUpperEscapes), MaxDiagnostics: 3}),
	mustNew(Profile{Name: "whatwg-unres", Standard: WHATWG, Rules: Rules{1<<RuleDecodeUnreserved | lossyRules}}),
	mustNew(verbatim.profile),
)

func mustNew(p Profile) *Normalizer {
	n, err := New(p)
	if err != nil {
		panic(err)
	}
	return n
}

// byName returns the Normalizer of a built-in profile.
func byName(name string) *Normalizer {
	for _, n := range fuzzNormalizers {
		if n.Profile().Name == name {
			return n
		}
	}
	panic("no profile " + name)
}

func addSeeds(f *testing.F) {
	for i := range fuzzNormalizers {
		for _, s := range seeds {
			f.Add(byte(i), []byte(s))
		}
	}
}

// exact returns a copy of b in a block of exactly its size, so that a read
// beyond its end is detected.
func exact(b []byte) []byte { return append(make([]byte, 0, len(b)), b...)[:len(b):len(b)] }

// FuzzLaws checks the documented guarantees for every profile.
func FuzzLaws(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		n := fuzzNormalizers[int(which)%len(fuzzNormalizers)]
		src = exact(src)
		before := bytes.Clone(src)
		var r, r2 Result
		dst := append(make([]byte, 0, 256), "canary"...)
		out, err := n.Append(dst, src, &r)
		if !bytes.Equal(src, before) || string(out[:6]) != "canary" {
			t.Fatal("src or the existing content of dst has changed")
		}
		if err != nil {
			if len(out) != 6 || int(r.ErrAt) > len(src) {
				t.Fatalf("error %v: dst is %q, place %d", err, out, r.ErrAt)
			}
			return
		}
		norm := out[6:]
		rfc := n.Profile().Standard == RFC3986
		checkParts(t, src, norm, &r, rfc)

		// E12.1: a normal form is a fixed point; E12.3: it is ASCII and matches
		// the grammar.
		again, err := n.Append(nil, norm, &r2)
		if err != nil || !bytes.Equal(again, norm) || r2.Change() != ChangeUnchanged {
			t.Fatalf("%q -> %q -> %q (%v, %v)", src, norm, again, err, r2.Change())
		}
		var rp Result
		if err := Parse(norm, &rp); err != nil {
			t.Fatalf("%q -> %q: %v", src, norm, err)
		}
		if (rfc || n.rules.Has(RuleRFCClean)) && !rp.Valid() && !rp.Flags.Has(FlagIPLiteralBad) && !rp.Flags.Has(FlagZoneID) {
			t.Fatalf("%q -> %q is not of the grammar: %s", src, norm, r2.Flags.AppendTo(nil))
		}
		for i, c := range norm {
			if c < 0x21 && (rfc || c != ' ') || c > 0x7E {
				t.Fatalf("%q -> %q: byte %#x at %d", src, norm, c, i)
			}
		}
		if isASCII(src) && len(norm) > 3*len(src)+len("//255.255.255.255/") { // E12.6
			t.Fatalf("%q -> %q is too long", src, norm)
		}

		checkCanonical(t, n, src, norm, &r)
		// E12.2: Ki(N(x)) = Ki(x) from the profile's own level on.
		from := n.Profile().Key
		if !rfc && n.rules&lossyRules == 0 {
			from = LevelSyntax
		}
		for _, lv := range keyedLevels[from:] {
			k1 := r.AppendKey(nil, lv)
			k2 := r2.AppendKey(nil, lv)
			if !bytes.Equal(k1, k2) || r.Key(lv) != r.HashKey(lv, k1) {
				t.Fatalf("%q: %v is %q, of the normal form %q", src, lv, k1, k2)
			}
		}
	})
}

// checkCanonical compares the short way to K0 and K1 with the long one.
func checkCanonical(t *testing.T, n *Normalizer, src, norm []byte, r *Result) {
	t.Helper()
	if !r.scratch.canonical {
		return
	}
	for lv := LevelSyntax; lv <= LevelEquivalent; lv++ {
		short := r.AppendKey(nil, lv)
		r.scratch.canonical = false
		if long := r.AppendKey(nil, lv); !bytes.Equal(short, long) {
			t.Fatalf("%q -> %q: %v is %q the short way, %q the long one", src, norm, lv, short, long)
		}
		r.scratch.canonical = true
	}
}

func checkParts(t *testing.T, src, norm []byte, r *Result, rfc bool) {
	t.Helper()
	if err := r.In.Check(src); err != nil && rfc {
		t.Fatalf("%q: in: %v", src, err)
	}
	if err := r.Out.Check(norm); err != nil {
		t.Fatalf("%q -> %q: out: %v", src, norm, err)
	}
	var parsed URL
	split(norm, &parsed)
	parsed.kind = r.Out.kind // opaque hosts exist in WHATWG only
	if parsed != r.Out {
		t.Fatalf("%q -> %q: out is %+v, parsed it is %+v", src, norm, r.Out, parsed)
	}
	last := uint32(0)
	for _, m := range r.Diagnostics {
		if m.At < last || int(m.At) > len(src) || !r.Flags.Has(m.Flag) {
			t.Fatalf("%q: marks %v, flags %s", src, r.Diagnostics, r.Flags.AppendTo(nil))
		}
		last = m.At
	}
}

// FuzzKeysNest checks that URLs equal at K0 are equal at K1: K1 is a function
// of K0.
func FuzzKeysNest(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		n := fuzzNormalizers[int(which)%len(fuzzNormalizers)]
		var r, r0 Result
		norm, err := n.Append(nil, src, &r)
		if err != nil {
			return
		}
		k0 := r.AppendKey(nil, LevelSyntax)
		k1 := r.AppendKey(nil, LevelEquivalent)
		k2 := r.AppendKey(nil, LevelFetch)
		k3 := r.AppendKey(nil, LevelPage)
		var u URL
		split(k1, &u)
		of1, _ := n.appendK2(nil, k1, &u, &r0.scratch)
		split(k2, &u)
		of2 := n.appendK3(nil, k2, &u, &r0.scratch)
		if !bytes.Equal(of1, k2) || !bytes.Equal(of2, k3) {
			t.Fatalf("%q: K2 is %q, of K1 %q; K3 is %q, of K2 %q", src, k2, of1, k3, of2)
		}
		for lv, text := range map[Level][]byte{LevelEquivalent: k1, LevelFetch: k2, LevelPage: k3} { // Key has shorter ways
			if _, _ = n.Append(nil, src, &r0); r0.Key(lv) != r.HashKey(lv, text) {
				t.Fatalf("%q: %v is not that of %q", src, lv, text)
			}
		}
		if got, want := string(r.AppendKey(nil, LevelShape)), slowSurface(string(k2)); got != want {
			t.Fatalf("%q: surface %q, of K2 %q: %q", src, got, k2, want)
		}
		_, err = n.Append(nil, k0, &r0)
		if err != nil {
			t.Fatalf("%q: K0 is %q: %v", src, k0, err)
		}
		if got := r0.AppendKey(nil, LevelEquivalent); !bytes.Equal(got, k1) {
			t.Fatalf("%q: K1 is %q, of K0 %q", src, k1, got)
		}
		equal := bytes.Equal(k0, k1)
		switch want := r.Change(); {
		case n.Profile().Standard == WHATWG:
		case want == ChangeSchemeEqual && equal && bytes.Equal(norm, k1):
			t.Fatalf("%q -> %q: scheme-equal, but K0 is the same", src, norm)
		case want == ChangeCosmetic && !bytes.Equal(norm, k0):
			t.Fatalf("%q -> %q: cosmetic, but K0 is %q", src, norm, k0)
		}
	})
}

// FuzzSlow compares the normalizer with its readable twin.
func FuzzSlow(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		n := []*Normalizer{syntax, scheme}[which%2]
		var r Result
		got, err := n.Append(nil, src, &r)
		want, ok := slowNormalize(string(src), n == scheme)
		if (err == nil) != ok || ok && string(got) != want {
			t.Fatalf("%q -> %q (%v), slow %q (%v)", src, got, err, want, ok)
		}
	})
}

// FuzzClean checks that the fast path gives up or agrees: the full path leaves
// a URL that it accepts unchanged, without a flag, and with the same
// components.
func FuzzClean(f *testing.F) {
	addSeeds(f)
	for _, s := range walkSeeds {
		f.Add(byte(0), []byte(s))
	}
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		var fast URL
		_, entity, ok := parseClean(src, &fast, new(scan.Survey))
		if !ok {
			return
		}
		want := Flags{}
		if entity >= 0 {
			want = want.With(FlagHTMLEntity)
		}
		for _, n := range fuzzNormalizers {
			if n.rules&lossyRules != 0 {
				continue // the rest may be clean
			}
			var r Result
			out, err := n.appendFull(nil, src, &r)
			r.remember(n, src, out)
			if err != nil || !bytes.Equal(out, src) || r.Flags != want || entity >= 0 && r.Diagnostics[0].At != uint32(entity) || r.In != fast || r.Out != fast ||
				!bytes.Equal(r.AppendKey(nil, LevelEquivalent), src) {
				t.Fatalf("%q -> %q (%v), flags %s, %+v and %+v", src, out, err, r.Flags.AppendTo(nil), r.In, fast)
			}
		}
	})
}

// FuzzOnePass checks that onePass gives up or agrees with the parsers, to the
// last diagnostic and key.
func FuzzOnePass(f *testing.F) {
	for i := range walkNormalizers {
		for _, s := range slices.Concat(walkSeeds, seeds) {
			f.Add(byte(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		checkOnePass(t, walkNormalizers[int(which)%len(walkNormalizers)], src)
		checkParse(t, src)
	})
}

// checkOnePass compares onePass with the parsers, and reports whether onePass
// reached the end.
func checkOnePass(t *testing.T, n *Normalizer, src []byte) bool {
	var walked, parsed Result
	o, _, clean := parseClean(src, &walked.In, &walked.scratch.survey)
	if clean || len(src) > n.maxLen {
		return false
	}
	if _, ok := n.onePass(nil, src, o, &walked); !ok {
		return false
	}
	slow := *n
	slow.table = nil
	got, err := n.Append([]byte("x"), exact(src), &walked)
	want, wantErr := slow.appendFull([]byte("x"), src, &parsed)
	if err != nil || wantErr != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s %q -> %q (%v), want %q (%v)", n.profile.Name, src, got, err, want, wantErr)
	}
	parsed.remember(&slow, src, want[1:])
	if walked.Flags != parsed.Flags || !slices.Equal(walked.Diagnostics, parsed.Diagnostics) || walked.In != parsed.In || walked.Out != parsed.Out || walked.ErrAt != parsed.ErrAt {
		t.Fatalf("%s %q: %s %+v %+v %+v, want %s %+v %+v %+v", n.profile.Name, src,
			walked.Flags.AppendTo(nil), walked.Diagnostics, walked.In, walked.Out, parsed.Flags.AppendTo(nil), parsed.Diagnostics, parsed.In, parsed.Out)
	}
	if a, b := walked.Applied(), parsed.Applied(); a != b {
		t.Fatalf("%s %q: applied %v, want %v", n.profile.Name, src, a, b)
	}
	if a, b := walked.Change(), parsed.Change(); a != b {
		t.Fatalf("%s %q: %v, want %v", n.profile.Name, src, a, b)
	}
	for _, lv := range keyedLevels {
		a, b := walked.AppendKey(nil, lv), parsed.AppendKey(nil, lv)
		if !bytes.Equal(a, b) {
			t.Fatalf("%s %q: %v %q, want %q", n.profile.Name, src, lv, a, b)
		}
	}
	return true
}

// checkParse compares Parse with and without the fast paths.
func checkParse(t *testing.T, src []byte) {
	t.Helper()
	var fast, full Result
	var want error
	if err := verbatim.read(nil, src, &full); err != 0 {
		want = err
	}
	err := Parse(src, &fast)
	if err != want || fast.In != full.In || fast.Flags != full.Flags || !slices.Equal(fast.Diagnostics, full.Diagnostics) || fast.ErrAt != full.ErrAt {
		t.Fatalf("%q: %v %+v %+v, want %v %+v %+v", src, err, fast.In, fast.Diagnostics, want, full.In, full.Diagnostics)
	}
}

// FuzzDirtyResult checks that a used Result gives the same results as a new
// one.
func FuzzDirtyResult(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), []byte(seeds[len(seeds)-1-i]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, n := range fuzzNormalizers {
			var used, fresh Result
			n.AppendRef(nil, []byte("http://a/b/c/d;p?q"), a, &used)
			x, errX := n.Append(nil, b, &used)
			y, errY := n.Append(nil, b, &fresh)
			same := errX == errY && bytes.Equal(x, y) && used.Flags == fresh.Flags && used.Out == fresh.Out &&
				used.In == fresh.In && used.ErrAt == fresh.ErrAt && len(used.Diagnostics) == len(fresh.Diagnostics)
			if !same {
				t.Fatalf("%q after %q: %q %v, fresh %q %v", b, a, x, errX, y, errY)
			}
			if errX == nil && (used.Key(LevelSyntax) != fresh.Key(LevelSyntax) || used.Change() != fresh.Change()) {
				t.Fatalf("%q after %q: keys differ", b, a)
			}
		}
	})
}

// FuzzBase checks that the normal form of a reference is a fixed point and has
// the same keys, whichever components come from the base.
func FuzzBase(f *testing.F) {
	for i, base := range append(hitBases, "http://u%7e:%3a@h:80/%zz|%7e/%/?%|%41#%7e", "non:/a%7e/|b?%7e", "non:op%7e?%c3", "file:///C|/%7e/x") {
		for _, ref := range []string{"", "x", "?q", "#f", "../%7e", "/", "//g", ".%zz"} {
			f.Add(byte(i), []byte(base), []byte(ref))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, base, src []byte) {
		n := fuzzNormalizers[int(which)%len(fuzzNormalizers)]
		checkBaseless(t, n, base, src)
		var r, r2 Result
		norm, err := n.AppendRef(nil, base, src, &r)
		if err != nil {
			return
		}
		again, err := n.Append(nil, norm, &r2)
		if err != nil || !bytes.Equal(again, norm) {
			t.Fatalf("%q beside %q -> %q -> %q (%v)", src, base, norm, again, err)
		}
		for _, lv := range keyedLevels[n.Profile().Key:] {
			if a, b := r.AppendKey(nil, lv), r2.AppendKey(nil, lv); !bytes.Equal(a, b) {
				t.Fatalf("%q beside %q -> %q: %v is %q, and then %q", src, base, norm, lv, a, b)
			}
		}
	})
}

// checkBaseless checks that a base changes neither the normal form nor the keys of
// a URL with a scheme, except for http:a in the URL Standard.
func checkBaseless(t *testing.T, n *Normalizer, base, src []byte) {
	t.Helper()
	if schemeEnd(src) == 0 || n.profile.Standard == WHATWG && !bytes.HasPrefix(src[schemeEnd(src):], slashes) && lookupScheme(bytes.ToLower(src[:schemeEnd(src)-1])) != schemeOther {
		return
	}
	var with, without Result
	a, errA := n.AppendRef(nil, base, src, &with)
	b, errB := n.Append(nil, src, &without)
	if !bytes.Equal(a, b) || errA != errB || with.Out != without.Out {
		t.Fatalf("%s %q: %q, %v beside %q; %q, %v without it", n.profile.Name, src, a, errA, base, b, errB)
	}
	if errA != nil {
		return
	}
	if a, b := with.Change(), without.Change(); a != b {
		t.Fatalf("%s %q: %v beside %q; %v without it", n.profile.Name, src, a, base, b)
	}
	for _, lv := range keyedLevels {
		if a, b := with.AppendKey(nil, lv), without.AppendKey(nil, lv); !bytes.Equal(a, b) {
			t.Fatalf("%s %q: %v is %q beside %q and %q without it", n.profile.Name, src, lv, a, base, b)
		}
	}
}

// TestBaseless checks it for the seeds, in each profile and with keys of each
// standard.
func TestBaseless(t *testing.T) {
	for _, n := range hitNormalizers {
		for _, src := range slices.Concat(seeds, hitSeeds, []string{"info:a/../b", "http://h/a/%2E%2e/../b", "mailto:./a", "X:../a"}) {
			for _, base := range []string{"http://h/", "x:y", "a", "http://[", "file:///a"} {
				checkBaseless(t, n, []byte(base), []byte(src))
			}
		}
	}
}

// FuzzKept checks E12.4: normalization keeps the sequence of reserved bytes and
// reserved escapes in userinfo, query and fragment, and escapes the bytes that
// the grammar forbids there.
func FuzzKept(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		n := fuzzNormalizers[int(which)%len(fuzzNormalizers)]
		var r Result
		norm, err := n.Append(nil, src, &r)
		if err != nil {
			return
		}
		for _, c := range []Component{Username, Password, Query, Fragment} {
			if !r.Out.Has(c) {
				continue
			}
			if n.Profile().Standard == WHATWG {
				continue // its parser removes tabs, and escapes other bytes
			}
			in, out := reserved(r.In.Bytes(src, c), illegal[c]), reserved(r.Out.Bytes(norm, c), illegal[c])
			if in != out {
				t.Fatalf("%q -> %q: reserved in %v: %q, then %q", src, norm, c, in, out)
			}
		}
	})
}

// reserved returns the reserved bytes of text, and its escapes of bytes that
// are not unreserved, after the bytes of set have been escaped.
func reserved(text []byte, set percent.ByteSet) string {
	var b []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case isTriplet(text[i:]):
			v := percent.Unhex(text[i+1])<<4 | percent.Unhex(text[i+2])
			if !percent.IsUnreserved(v) {
				b = append(b, '%', v)
			}
			i += 2
		case c == '%' || set.Has(c):
			b = append(b, '%', c)
		case percent.IsReserved(c):
			b = append(b, c)
		}
	}
	return string(b)
}

// FuzzResolve compares reference resolution with the algorithm of RFC 3986 §5.2
// on strings, and checks the offsets of its results.
func FuzzResolve(f *testing.F) {
	for _, base := range []string{"http://a/b/c/d;p?q", "a:b/c", "a:/b", "a://", "file:///", "x:"} {
		for _, ref := range seeds {
			f.Add([]byte(base), []byte(ref))
		}
	}
	f.Fuzz(func(t *testing.T, base, ref []byte) {
		got, err := Resolve(nil, base, ref)
		b, okB := slowSplit(slowBytes(string(base)))
		u, okU := slowSplit(slowBytes(string(ref)))
		if !okB || !b.hasScheme || !okU {
			if err == nil {
				t.Fatalf("%q against %q: no error", ref, base)
			}
			return
		}
		if want := slowUnbytes(slowResolve(b, u)); err != nil || string(got) != want {
			t.Fatalf("%q against %q: %q (%v), slow %q", ref, base, got, err, want)
		}
	})
}

// FuzzOnePassRef compares the fast path for relative references with the parsers, to the
// last diagnostic, rule and key.
func FuzzOnePassRef(f *testing.F) {
	for i, src := range []string{
		"", "x", "/x", "?q", "#f", "../%7e|", "./", "..", "/../a//b", "//G/%7e", "//h:80?", "a:b", "1:b", " x", "x ", "\\x", "a\\b", "/\t/g", "%2e%2E/%2f", "?a&amp;b", "#a#b", ".%2f", "%25%34%31",
	} {
		for j, base := range []string{"https://u.example/a/b%C3%A9/c?d=e&amp;f#g", "HTTP://H:80/a/../b;jsessionid=1/c?d", "http://h", "http://e\\@g/", "http://\\\\@g/", "http://h/a//b/%7C"} {
			f.Add(byte(i+j), byte(i), []byte(base), []byte(src))
		}
	}
	f.Fuzz(func(t *testing.T, which, keys byte, base, src []byte) {
		if len(base) == 0 {
			return
		}
		n := *walkNormalizers[int(which)%len(walkNormalizers)]
		n.keys = Standard(keys & 1)
		if err := n.hasher.prepare(n.keys, nil); err != nil {
			t.Fatal(err)
		}
		checkOnePassRef(t, &n, base, src)
	})
}

// checkOnePassRef compares AppendRef with the way without fast paths.
func checkOnePassRef(t *testing.T, n *Normalizer, base, src []byte) {
	t.Helper()
	var fast, slow, probe Result
	if _, ok := n.onePassRef(nil, base, src, &probe); !ok {
		return
	}
	got, err := n.AppendRef([]byte("x"), base, exact(src), &fast)
	want, wantErr := n.appendRef([]byte("x"), base, src, &slow)
	if err != nil || wantErr != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s %q against %q -> %q (%v), want %q (%v)", n.profile.Name, src, base, got, err, want, wantErr)
	}
	slow.remember(n, src, want[1:])
	if fast.Flags != slow.Flags || !slices.Equal(fast.Diagnostics, slow.Diagnostics) || fast.In != slow.In || fast.Out != slow.Out {
		t.Fatalf("%s %q against %q: %s %+v, want %s %+v", n.profile.Name, src, base, fast.Flags.AppendTo(nil), fast.Diagnostics, slow.Flags.AppendTo(nil), slow.Diagnostics)
	}
	if fast.Applied() != slow.Applied() || fast.Change() != slow.Change() {
		t.Fatalf("%s %q against %q: %v by %v, want %v by %v", n.profile.Name, src, base, fast.Change(), fast.Applied(), slow.Change(), slow.Applied())
	}
	for _, lv := range keyedLevels {
		if a, b := fast.AppendKey(nil, lv), slow.AppendKey(nil, lv); !bytes.Equal(a, b) {
			t.Fatalf("%s %q against %q: %v %q, want %q", n.profile.Name, src, base, lv, a, b)
		}
	}
}

// TestOnePassRef checks that onePassRef handles what pages contain, in every profile
// that onePass supports.
func TestOnePassRef(t *testing.T) {
	for _, n := range walkNormalizers {
		for _, base := range []string{"http://a.example/b/c?d#e", "HTTP://A.example:80"} {
			for _, src := range []string{"", "/x/%7e", "y%20z?a|b#%zz", "?a&amp;b", "#f", "//H.example:80/", "../x"} {
				var r Result
				handles := n.profile.Standard == WHATWG || base[0] == 'h' && src[:min(2, len(src))] != ".."
				if _, ok := n.onePassRef(nil, []byte(base), []byte(src), &r); ok != handles && n.table != nil {
					t.Errorf("%s: %q against %q: %v, want %v", n.profile.Name, src, base, ok, handles)
				}
				checkOnePassRef(t, n, []byte(base), []byte(src))
			}
		}
	}
}
