package idna

import "testing"

var benchDomains = []struct{ name, in string }{
	{"ascii", "www.example-site.co.uk"},
	{"a-label", "xn--bcher-kva.example"},
	{"latin", "www.bücher.example"},
	{"cyrillic", "пример.испытание"},
	{"japanese", "日本語のテスト.テスト"},
	{"hebrew", "נסיון.com"},
	{"decomposed", "bu\u0308cher.\u1112\u1161\u11AB"},
	{"invalid", "a\u200Db.com"},
}

func BenchmarkAppendASCII(b *testing.B) {
	for _, d := range benchDomains {
		b.Run(d.name, func(b *testing.B) {
			benchASCII(b, []byte(d.in))
		})
	}
}

// BenchmarkHostile converts labels of 64 KiB, each aimed at one loop that could
// be quadratic.
func BenchmarkHostile(b *testing.B) {
	for _, d := range hostile() {
		b.Run(d.name, func(b *testing.B) {
			benchASCII(b, d.in)
		})
	}
}

func benchASCII(b *testing.B, domain []byte) {
	b.ReportAllocs()
	b.SetBytes(int64(len(domain)))
	buf := make([]byte, 0, 1<<20)
	for b.Loop() {
		_, _ = AppendASCII(buf[:0], domain)
	}
}

func BenchmarkStrict(b *testing.B) {
	for _, d := range benchDomains {
		domain := []byte(d.in)
		b.Run(d.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Strict(domain)
			}
		})
	}
}

func BenchmarkAppendUnicode(b *testing.B) {
	domain := []byte("www.xn--bcher-kva.example")
	b.ReportAllocs()
	buf := make([]byte, 0, 256)
	for b.Loop() {
		buf = AppendUnicode(buf[:0], domain)
	}
}
