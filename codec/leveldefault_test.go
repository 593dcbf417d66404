package codec_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestLevelDefault checks that the zero Level means the level of the profile
// wherever a level is asked for, and that a profile that names no level has one.
func TestLevelDefault(t *testing.T) {
	src := []byte("https://u@www.h.example/a/index.html?b=2&a=1&utm_source=x#f")
	shaped := codec.Profile{Name: "shaped", Key: codec.LevelShape}
	for _, p := range append(codec.Profiles(), codec.Profile{Name: "plain"}, shaped) {
		n, err := codec.New(p)
		if err != nil {
			t.Fatal(err)
		}
		lv := n.Profile().Key
		if want := max(p.Key, codec.LevelEquivalent); lv != want && p.Name != "rfc3986" {
			t.Errorf("%s: level %v, want %v", p.Name, lv, want)
		}
		var r codec.Result
		if _, err := n.Append(nil, src, &r); err != nil {
			t.Fatal(err)
		}
		canonical := r.AppendKey(nil, lv)
		if got := r.AppendKey(nil, 0); !bytes.Equal(got, canonical) || len(got) == 0 {
			t.Errorf("%s: %q, at %v %q", p.Name, got, lv, canonical)
		}
		if r.Key(0) != r.Key(lv) || r.Key(0).IsZero() || r.HashKey(0, canonical) != r.Key(lv) || !r.HasKey(0) {
			t.Errorf("%s: key %v, at %v %v", p.Name, r.Key(0), lv, r.Key(lv))
		}
		target, _ := r.TargetKey(0, canonical[:1])
		if want, _ := r.TargetKey(lv, canonical[:1]); target != want {
			t.Errorf("%s: target %v, at %v %v", p.Name, target, lv, want)
		}
		if got, want := r.TraceKey(0), r.TraceKey(lv); len(got) != len(want) {
			t.Errorf("%s: %v, at %v %v", p.Name, got, lv, want)
		}
		if got := n.KeyFunction(0); got != n.KeyFunction(lv) || got == "" || n.PolicyVersions(0) != n.PolicyVersions(lv) {
			t.Errorf("%s: key function %q, %q", p.Name, got, n.PolicyVersions(0))
		}
		for _, path := range []string{"/a", "/a/"} {
			if n.KeepsPath(0, []byte(path)) != n.KeepsPath(lv, []byte(path)) {
				t.Errorf("%s: KeepsPath of %q is not that at %v", p.Name, path, lv)
			}
		}
	}
	if codec.KeyFunction(codec.WHATWG, 0) != "" || codec.KeyRules(0).Len() != 0 {
		t.Error("LevelDefault has a key function or rules without a profile")
	}
}

// TestZeroProfile checks that a profile with nothing but a name parses as
// browsers do, and that the zero level of a built-in profile is the built-in one.
func TestZeroProfile(t *testing.T) {
	n, err := codec.New(codec.Profile{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var r codec.Result
	got, err := n.Append(nil, []byte(`http:\\H\a`), &r)
	if string(got) != "http://h/a" || err != nil || n.Profile().Standard != codec.WHATWG {
		t.Errorf("%q, %v by %v", got, err, n.Profile().Standard)
	}
	p, _ := codec.Lookup("crawler")
	p.Key = codec.LevelDefault
	if n, err = codec.New(p); err != nil || n.Profile().Key != codec.LevelFetch {
		t.Errorf("crawler without a level: %v", err)
	}
}

// TestLevelText checks that each level can be written and read back, and that
// the name of LevelDefault is empty.
func TestLevelText(t *testing.T) {
	for lv := codec.LevelDefault; lv <= codec.LevelShape; lv++ {
		text, err := json.Marshal(lv)
		back := codec.LevelShape + 1
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if back != lv || err != nil || (lv == 0) != (lv.String() == "") {
			t.Errorf("%d is written %s and read as %v, %v", lv, text, back, err)
		}
	}
}
