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

func panicOf(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return ""
}
