package codec

import (
	"bytes"
	"testing"
)

// TestWebScheme replaces each byte of both schemes with every other byte, in lower
// case and in capitals.
func TestWebScheme(t *testing.T) {
	for _, scheme := range []string{"http://", "https://"} {
		for _, src := range []string{scheme + "h/a", string(bytes.ToUpper([]byte(scheme))) + "h/a"} {
			for i := range scheme {
				for c := range 256 {
					url := []byte(src)
					url[i] = byte(c)
					checkWebScheme(t, url)
				}
			}
		}
	}
}

// checkWebScheme compares webScheme with bytes.ToLower.
func checkWebScheme(t *testing.T, url []byte) {
	t.Helper()
	wantStart, wantOdd := 0, uint8(0)
	for _, scheme := range []string{"http://", "https://"} {
		begin := url[:len(scheme)]
		if string(bytes.ToLower(begin)) == scheme {
			wantStart = len(scheme)
			if string(begin) != scheme {
				wantOdd = oddScheme
			}
		}
	}
	if start, odd := webScheme(url); start != wantStart || odd != wantOdd {
		t.Errorf("%q: %d, %d, want %d, %d", url, start, odd, wantStart, wantOdd)
	}
}
