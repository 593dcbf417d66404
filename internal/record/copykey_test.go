package record

import (
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// namedCopiers returns configurations whose workers copy records with an identity.
func namedCopiers() (list []Config) {
	policy := *normalizers["equiv"].Policy()
	policy.KeepHTTPS = true
	for _, o := range []struct {
		profile string
		options []codec.Option
	}{
		{"equiv", nil}, {"rfc3986", nil}, {"whatwg", []codec.Option{codec.WithPolicy(&policy)}}, {"logclean", []codec.Option{codec.WithHMACKey([]byte("0123456789abcdef"))}},
		{"rfc3986-scheme", []codec.Option{codec.WithStandard(codec.WHATWG)}}, {"crawler", []codec.Option{codec.WithStandard(codec.RFC3986), codec.WithHash(codec.SHA256)}},
	} {
		p, _ := codec.Lookup(o.profile)
		n, err := codec.New(p, o.options...)
		if err != nil {
			panic(err)
		}
		for i, base := range []string{"", "https://www.example.com", "http://1.2.3.4:8080", "http://h.", "https://xn--bcher-kva.example", "http://h:80", "http://[::1]", "http://[1::0]"} {
			for _, by := range []string{"key", "syntax", "equivalent", "fetch", "page"} {
				for _, f := range [][2]string{{"combined"}, {"lines"}, {"csv", "3"}} {
					c := Config{Format: f[0], URLField: f[1], Base: base, Normalizer: n, Level: codec.LevelEquivalent, Identity: Identity{By: by, First: i%2 == 0}}
					if j, err := New(c); err == nil && j.NewWorker().keeper != nil {
						list = append(list, c)
					}
				}
			}
		}
	}
	return list
}

// TestCopyKey checks that logs are copied with each of these identities.
func TestCopyKey(t *testing.T) {
	got := map[string]int{}
	for _, c := range namedCopiers() {
		got[c.Format+" "+c.Identity.By+" "+c.Base]++
	}
	for _, by := range []string{"key", "syntax", "equivalent", "fetch", "page"} {
		for _, base := range []string{"", "http://1.2.3.4:8080", "https://www.example.com"} {
			if n := got["combined "+by+" "+base]; n != 6 {
				t.Errorf("by %s, base %q: %d of the normalizers copy, want 6", by, base, n)
			}
		}
	}
}
