package record

import "testing"

// TestCaptureURL checks which values of an index are URLs, and which have a host
// without a scheme.
func TestCaptureURL(t *testing.T) {
	f := func(url, norm string) {
		t.Helper()
		want := norm
		if norm != "" {
			want += "\n"
		}
		check(t, Config{Format: "cdx", Render: RenderURLs}, "k 20260101000000 "+url+" text/html 200 X\n", want)
	}
	f("http://H/%7e", "http://h/~")
	f("-", "")
	f("www.example.com:443", "")
	f("[2001:db8::1]:443", "")
	f("www.example.com:80/%7e", "http://www.example.com/~")
	f("dns:www.example.com", "dns:www.example.com")
	f("mailto:a@example.com", "mailto:a@example.com")
	f("localhost:80/%7e", "localhost:80/~")
	f(`http:\x24%c4w.example.com:80/`, `http:%5Cx24%C4w.example.com:80/`)
}
