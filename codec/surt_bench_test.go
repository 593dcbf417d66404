package codec

import "testing"

func BenchmarkAppendSURT(b *testing.B) {
	key := []byte("http://www.example.com:8080/path/to/page.html?x=1&y=2")
	dst := make([]byte, 0, 256)
	var u URL
	split(key, &u)
	b.ReportAllocs()
	b.SetBytes(int64(len(key)))
	for b.Loop() {
		dst = AppendSURT(dst[:0], key, &u, SURTOptions{})
	}
}
