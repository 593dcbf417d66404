package surt

import "testing"

func BenchmarkAppend(b *testing.B) {
	key := []byte("http://www.example.com:8080/path/to/page.html?x=1&y=2")
	dst := make([]byte, 0, 256)
	u := components(key)
	b.ReportAllocs()
	b.SetBytes(int64(len(key)))
	for b.Loop() {
		dst = Append(dst[:0], key, &u, Options{})
	}
}
