package insight

import "testing"

func TestReadable(t *testing.T) {
	for text, want := range map[string]string{
		"/%D0%B0/%E9%9D%B4?q=%E6%9D%B1": "/а/靴?q=東",
		"xn--bcher-kva.example/%C3%A9":  "bücher.example/é",
		"/%D0%B0/{int}":                 "/а/{int}",
		"ftp://h/%C3%A9":                "ftp://h/é",
		"/a%2Fb%3Cc%20%00":              "/a%2Fb%3Cc%20%00",
		"/%FF%E2%80%AE%E2%80%8B":        "/%FF%E2%80%AE%E2%80%8B", // no text, a bidi control, an invisible character
		"//[%C3%A9":                     "//[%C3%A9",
		"":                              "",
	} {
		if got := Readable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
