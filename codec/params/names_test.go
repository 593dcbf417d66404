package params

import (
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
)

func TestAppendNames(t *testing.T) {
	var s Scratch
	f := func(query, want string) {
		t.Helper()
		if got := string(AppendNames([]byte("x"), []byte(query), &s)); got != "x"+want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	f("", "")
	f("&&", "")
	f("b=1&a=2&b=3&a", "a&b")
	f("=v", "")
	f("=v&a", "&a")
	f("b%61=1&ba=2", "ba")
	f("a b=1&a+b&a%20b", "a+b")
	f("Signature=x&Expires=1&Key-Pair-Id=z", "Expires&Key-Pair-Id&Signature")
	f("%7E&%zz&ü", "%25zz&%7E&%C3%BC")
	f("a==&a", "a")
}

// FuzzAppendNames compares AppendNames with a slow twin.
func FuzzAppendNames(f *testing.F) {
	for _, q := range []string{"", "a=1&b=2&a", "%41=&A&a%2", "=&&=x", "longer-than-eight=1&longer-than-nine=2"} {
		f.Add(q)
	}
	var s Scratch
	f.Fuzz(func(t *testing.T, query string) {
		var names []string
		for field := range strings.SplitSeq(query, "&") {
			if field == "" {
				continue
			}
			name, _, _ := strings.Cut(field, "=")
			names = append(names, string(AppendName(nil, []byte(name))))
		}
		slices.Sort(names)
		names = slices.Compact(names)
		for i, name := range names {
			names[i] = strings.ReplaceAll(string(percent.AppendEncode(nil, []byte(name), percent.WHATWGForm)), "%20", "+")
		}
		if got, want := string(AppendNames(nil, []byte(query), &s)), strings.Join(names, "&"); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	})
}
