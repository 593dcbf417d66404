package markup

import "testing"

// TestParameter checks parameters of content types.
func TestParameter(t *testing.T) {
	for content, want := range map[string]string{
		"text/html; charset=koi8-r": "koi8-r", "CHARSET = 'a b' x": "a b", `charset="x`: "", "charset": "", "charset=": "",
		"charsetx charset=a;b": "a", "charset charset=b c": "b", "text/html": "",
	} {
		if got := string(parameter([]byte(content), "charset")); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
}
