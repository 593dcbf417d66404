package codec

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"
)

// A replay is a parsed URL to which the steps of a trace are applied.
type replay struct {
	text      [numComponents]string
	has       [numComponents]bool
	authority bool
}

// newReplay splits the URL u, which describes src. It ignores tabs and
// newlines, and counts a '/' of a file URL only once that belongs to both host
// and path.
func newReplay(src []byte, u *URL, standard Standard) *replay {
	p := &replay{authority: u.HasAuthority()}
	for c := range Component(numComponents) {
		s := u.Span(c)
		if p.has[c] = u.Has(c); !p.has[c] {
			continue
		}
		if c == Path && p.has[Host] && s.Start < u.Span(Host).End {
			s.Start = min(u.Span(Host).End, s.End)
		}
		text := s.In(src)
		if standard == WHATWG {
			text = appendWithoutTabs(nil, text, new([]uint32))
		}
		p.text[c] = string(text)
	}
	return p
}

// step applies one step. It reports whether the step starts at the current URL.
func (p *replay) step(st *Step) bool {
	c := st.Component
	if c == WholeURL {
		switch st.Rule {
		case ruleResolve, RuleFallbackRFC:
			var u URL
			_, _ = split([]byte(st.After), &u)
			*p = *newReplay([]byte(st.After), &u, RFC3986)
		case ruleAuthoritySlashes:
			p.authority = true
		}
		return st.Before != st.After
	}
	if !p.has[c] && c == Path { // with WHATWG a reference may have no path
		p.has[c] = !st.Added
	}
	ok := p.has[c] != st.Added && (st.Added || p.text[c] == st.Before) && (st.Added || st.Removed || st.Before != st.After)
	p.has[c], p.text[c] = !st.Removed, st.After
	p.authority = p.authority || c == Host
	return ok
}

// String recomposes the URL (RFC 3986 §5.3).
func (p *replay) String() string {
	var b []byte
	put := func(c Component, before, after string) {
		if p.has[c] {
			b = append(append(append(b, before...), p.text[c]...), after...)
		}
	}
	put(Scheme, "", ":")
	if p.authority {
		b = append(b, "//"...)
		switch {
		case p.has[Password]:
			b = append(b, p.text[Username]+":"+p.text[Password]+"@"...)
		case p.has[Username]:
			b = append(b, p.text[Username]+"@"...)
		}
		put(Host, "", "")
		put(Port, ":", "")
	}
	put(Path, "", "")
	put(Query, "?", "")
	put(Fragment, "#", "")
	return string(b)
}

// rulesOf returns the rules of steps.
func rulesOf(steps []Step) (s ruleSet) {
	for i := range steps {
		s |= 1 << steps[i].Rule
	}
	return s
}

// checkTrace checks the laws of traces: their rules are those that Result
// reports, and applying them gives the normal form or the key.
func checkTrace(t *testing.T, n *Normalizer, base, src []byte) {
	t.Helper()
	var r Result
	norm, err := n.AppendRef(nil, base, src, &r)
	steps := n.Trace(base, src)
	if err != nil {
		if len(steps) != 0 {
			t.Errorf("%s %q: %v and %d steps", n.profile.Name, src, err, len(steps))
		}
		return
	}
	if got := rulesOf(steps); got != r.Applied().set {
		t.Errorf("%s %q against %q -> %q: applied %v, traced %v: %+v", n.profile.Name, src, base, norm, r.Applied(), Rules{got}, steps)
	}
	if bytes.Equal(src, norm) {
		return
	}
	p := newReplay(src, &r.In, n.profile.Standard)
	for i := range steps {
		if !p.step(&steps[i]) {
			t.Errorf("%s %q against %q -> %q: step %d does not follow: %+v", n.profile.Name, src, base, norm, i, steps)
			return
		}
	}
	if got := p.String(); got != string(norm) {
		t.Errorf("%s %q against %q -> %q: the steps end at %q: %+v", n.profile.Name, src, base, norm, got, steps)
	}
}

// checkKeyTrace checks the same laws for keys.
func checkKeyTrace(t *testing.T, n *Normalizer, base, src []byte) {
	t.Helper()
	var r Result
	_, err := n.AppendRef(nil, base, src, &r)
	if err != nil {
		return
	}
	var traced ruleSet
	for _, lv := range keyedLevels {
		var before []byte
		switch lv {
		case LevelSyntax:
			before = bytes.Clone(n.keyText(r.scratch.src, r.scratch.norm, &r))
		case LevelShape:
			before = r.AppendKey(nil, LevelFetch)
		default:
			before = r.AppendKey(nil, lv-1)
		}
		want := string(r.AppendKey(nil, lv))
		applied := r.KeyApplied()
		steps := r.TraceKey(lv)
		if lv >= LevelFetch {
			traced |= rulesOf(steps)
		}
		if traced != applied.set {
			t.Errorf("%s %q: %v %q: applied %v, traced %v: %+v", n.profile.Name, src, lv, want, applied, Rules{traced}, steps)
		}
		var u URL
		_, _ = split(before, &u)
		p := newReplay(before, &u, RFC3986)
		for i := range steps {
			if !p.step(&steps[i]) {
				t.Errorf("%s %q: step %d from %q to %v %q does not follow: %+v", n.profile.Name, src, i, before, lv, want, steps)
				return
			}
		}
		if lv == LevelPage && (!p.has[Scheme] || p.text[Scheme] == "http" || p.text[Scheme] == "https") { // the slashes go with the scheme
			p.has[Scheme] = false
			if p.authority {
				want = "//" + want
			}
		}
		if lv == LevelShape && p.authority {
			want = "//" + want
		}
		if got := p.String(); got != want {
			t.Errorf("%s %q: the steps from %q to %v end at %q, want %q: %+v", n.profile.Name, src, before, lv, got, want, steps)
		}
	}
}

// TestTraceLaws checks the laws on the seeds.
func TestTraceLaws(t *testing.T) {
	for _, n := range hitNormalizers {
		for _, src := range slices.Concat(seeds, hitSeeds) {
			for _, base := range hitBases {
				checkTrace(t, n, []byte(base), []byte(src))
				checkKeyTrace(t, n, []byte(base), []byte(src))
			}
		}
	}
}

// TestTraceVectors checks the laws on the vectors of the standards.
func TestTraceVectors(t *testing.T) {
	type row = map[string]any
	text := func(v row, name string) []byte {
		if s, ok := v[name].(string); ok {
			return []byte(s)
		}
		digits, _ := v[name+"_hex"].(string)
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	check := func(base, src []byte) {
		for _, n := range hitNormalizers {
			checkTrace(t, n, base, src)
			checkKeyTrace(t, n, base, src)
		}
	}
	for _, name := range []string{"url-standard", "rfc3986-syntax", "rfc3986-normalize"} {
		readVectors(t, name+".jsonl", 100, func(_ int, v *row) { check(text(*v, "base"), text(*v, "input")) })
	}
	readVectors(t, "rfc3986-resolve.jsonl", 100, func(_ int, v *row) { check(text(*v, "base"), text(*v, "ref")) })
	readVectors(t, "idna.jsonl", 100, func(_ int, v *row) { check(nil, append([]byte("http://"), text(*v, "domain")...)) })
}

// FuzzTrace checks the laws, also with policies that use options which the
// default policy does not.
func FuzzTrace(f *testing.F) {
	for i := range hitNormalizers {
		for j, s := range slices.Concat(seeds, hitSeeds) {
			f.Add(byte(i), byte(j), []byte(hitBases[j%len(hitBases)]), []byte(s))
		}
	}
	policies := tracePolicies(f)
	f.Fuzz(func(t *testing.T, which, policy byte, base, src []byte) {
		n := *hitNormalizers[int(which)%len(hitNormalizers)]
		n.policy = policies[int(policy)%len(policies)]
		checkTrace(t, &n, base, src)
		checkKeyTrace(t, &n, base, src)
	})
}
