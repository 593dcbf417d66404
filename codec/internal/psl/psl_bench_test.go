package psl

import "testing"

// benchHosts range from the shortest lookup to the longest.
var benchHosts = []string{
	"localhost",
	"www.example.com",
	"www.example.co.uk",
	"user.github.io",
	"a.city.kobe.jp",
	"a.b.kobe.jp",
	"bucket.s3.dualstack.us-east-1.amazonaws.com",
}

func BenchmarkSuffixLen(b *testing.B) {
	for _, host := range benchHosts {
		b.Run(host, func(b *testing.B) {
			host := []byte(host)
			b.ReportAllocs()
			for b.Loop() {
				SuffixLen(host, true)
			}
		})
	}
}
