//go:build invariants

package codec

import (
	"strings"
	"testing"
)

// TestSeal checks that the methods of a Result panic if src or the normal form
// has changed, or if there is no URL.
func TestSeal(t *testing.T) {
	questions := map[string]func(r *Result){
		"Key":       func(r *Result) { r.Key(LevelEquivalent) },
		"AppendKey": func(r *Result) { r.AppendKey(nil, LevelFetch) },
		"HashKey":   func(r *Result) { r.HashKey(LevelEquivalent, nil) },
		"TargetKey": func(r *Result) { r.TargetKey(LevelEquivalent, []byte("http://h")) },
		"Change":    func(r *Result) { r.Change() },
		"Applied":   func(r *Result) { r.Applied() },
		"TraceKey":  func(r *Result) { r.TraceKey(LevelPage) },
	}
	f := func(why string, spoil func(r *Result, src, norm []byte)) {
		t.Helper()
		for name, ask := range questions {
			for _, text := range []string{"http://h/a", "HTTP://h/%7e"} {
				var r Result
				src := []byte(text)
				norm, err := byName("equiv").Append(nil, src, &r)
				if err != nil {
					t.Fatal(err)
				}
				ask(&r) // nothing has changed yet
				spoil(&r, src, norm)
				if got := panicOf(func() { ask(&r) }); !strings.HasPrefix(got, "BUG: ") || !strings.Contains(got, why) {
					t.Errorf("%s of %q: the panic is %q, want %q", name, text, got, why)
				}
			}
		}
	}
	f("src has changed", func(_ *Result, src, _ []byte) { src[len(src)-1]++ })
	f("normal form has changed", func(_ *Result, _, norm []byte) { norm[0]++ })
	f("no normal form", func(r *Result, src, _ []byte) { Parse(src, r) })
	f("no normal form", func(r *Result, _, _ []byte) { byName("equiv").Append(nil, []byte("http://[/"), r) })
}

// TestSharedResult checks that a call panics while another one fills the Result, and
// that each call, also one that fails, ends.
func TestSharedResult(t *testing.T) {
	n, strict := byName("equiv"), MustNamed("ssurt")
	calls := map[string]func(r *Result){
		"Append":    func(r *Result) { n.Append(nil, []byte("http://h/"), r) },
		"AppendRef": func(r *Result) { n.AppendRef(nil, []byte("http://h/"), []byte("a"), r) },
		"a match":   func(r *Result) { strict.AppendRef(nil, []byte("http://h/"), []byte("a"), r) },
		"Parse":     func(r *Result) { Parse([]byte("http://h/"), r) },
		"Key":       func(r *Result) { r.Key(LevelEquivalent) },
	}
	for name, call := range calls {
		var r Result
		for _, src := range []string{"http://[/", "HTTP://h/%7e", "http://h/", "http://h/" + strings.Repeat("a", 70<<10)} {
			n.Append(nil, []byte(src), &r)
			n.AppendRef(nil, []byte("http://h/"), []byte(src), &r)
			strict.Append(nil, []byte(src), &r)
			Parse([]byte(src), &r)
		}
		n.Append(nil, []byte("http://h/"), &r)
		call(&r)
		n.Append(nil, []byte("http://h/"), &r)
		r.scratch.seal.open()
		if got := panicOf(func() { call(&r) }); !strings.Contains(got, "two goroutines") {
			t.Errorf("%s: the panic is %q", name, got)
		}
	}
}

func panicOf(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return ""
}
