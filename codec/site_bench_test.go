package codec

import "testing"

func BenchmarkAppendSite(b *testing.B) {
	for name, private := range map[string]bool{"registry": false, "private": true} {
		b.Run(name, func(b *testing.B) {
			host := []byte("www.example.co.uk")
			dst := make([]byte, 0, 256)
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = AppendSite(dst[:0], host, private)
			}
		})
	}
}

func BenchmarkCutWWW(b *testing.B) {
	host := []byte("www.example.com")
	b.ReportAllocs()
	for b.Loop() {
		cutWWW(host)
	}
}
