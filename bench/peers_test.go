package bench

import "testing"

// TestPeersWork checks that each peer does the job that its name promises, so
// that no row of the table is fast because it does nothing.
func TestPeersWork(t *testing.T) {
	const src = "HTTPS://Example.COM:443/a/../%7euser?q=1"
	want := map[string]string{
		"net/url Parse":                "/a/../~user",
		"net/url Parse+Resolve+String": "https://Example.COM:443/%7euser?q=1",
		"purell UsuallySafeGreedy":     "https://example.com/~user?q=1",
		"nlnwa/whatwg-url Parse+Href":  "https://example.com/%7euser?q=1",
	}
	for name, out := range oursWant {
		want[name] = out
	}
	for _, p := range Peers() {
		got, err := p.One(src)
		if err != nil || got != want[p.Name] {
			t.Errorf("%s: got %q, %v, want %q", p.Name, got, err, want[p.Name])
		}
		length, refused := p.Run(newSet("one", []string{src}))
		if refused != 0 || length != len(got) {
			t.Errorf("%s: Run returned length %d, refused %d; One returned %q", p.Name, length, refused, got)
		}
		delete(want, p.Name)
	}
	for name := range want {
		t.Errorf("no peer %s", name)
	}
}
