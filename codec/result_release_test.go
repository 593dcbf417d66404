//go:build !invariants

package codec

import "testing"

// TestResultEmpty checks that a Result without a URL answers with zero values.
func TestResultEmpty(t *testing.T) {
	f := func(why string, r *Result) {
		t.Helper()
		key, ok := r.TargetKey(LevelEquivalent, nil)
		if key != (Key{}) || ok {
			t.Errorf("%s: TargetKey returns %v, %v", why, key, ok)
		}
		if key := r.Key(LevelEquivalent); key != (Key{}) {
			t.Errorf("%s: Key returns %v", why, key)
		}
		if got := r.AppendKey(nil, LevelFetch); len(got) > 0 {
			t.Errorf("%s: AppendKey appends %q", why, got)
		}
		if key := r.HashKey(LevelEquivalent, []byte("/")); key != (Key{}) {
			t.Errorf("%s: HashKey returns %v", why, key)
		}
		if got := r.Applied(); got.Len() > 0 {
			t.Errorf("%s: Applied returns %v", why, got)
		}
		if r.HasKey(LevelEquivalent) {
			t.Errorf("%s: HasKey(K1)", why)
		}
	}
	f("new", new(Result))
	var r Result
	Parse([]byte("HTTP://h/%7e"), &r)
	f("after Parse", &r)
	if _, err := byName("equiv").Append(nil, []byte("http://[/"), &r); err == nil {
		t.Fatal("http://[/ is no error")
	}
	f("after an error", &r)
}
