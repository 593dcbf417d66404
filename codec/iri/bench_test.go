package iri

import "testing"

func BenchmarkAppend(b *testing.B) {
	for name, norm := range map[string]string{
		"plain":   "https://www.example.com/path/to/page.html?x=1&y=2",
		"escapes": "https://www.example.com/gr%C3%B6%C3%9Fe/%E9%A3%9F?q=%D7%90%20b",
		"domain":  "https://xn--bcher-kva.example/path/to/page.html?x=1&y=2",
	} {
		b.Run(name, func(b *testing.B) {
			src := []byte(norm)
			dst := make([]byte, 0, 256)
			u := components(src)
			b.ReportAllocs()
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				dst = Append(dst[:0], src, &u)
			}
		})
	}
}
