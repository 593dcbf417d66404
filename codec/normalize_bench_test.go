package codec

import (
	"bytes"
	"net/url"
	"testing"
)

// benchURLs has one URL for each way through the codec.
var benchURLs = map[string]string{
	"clean":  "https://www.example.com/associations2/index.html?id=4711&lang=en",
	"nopath": "https://www.example.com",
	"escape": "https://www.example.com/a/b%20c/d.html?q=caf%C3%A9&x=1",
	"dots":   "http://www.example.com/a/b/../c/./d.html?q=1",
	"port":   "http://WWW.Example.com:80/a/b/c/d.html?q=1",
	"dirty":  "HTTP://Ex%41mple.com:0080/a/../b%7e%2f%zz?q=\xfc x&amp;y#\x01",
	"origin": "http://host.invalid/presentations/logstash-monitorama-2013/images/kibana-search.png",
}

func BenchmarkAppend(b *testing.B) {
	n := byName("rfc3986-scheme")
	var r Result
	out := make([]byte, 0, 4096)
	for name, s := range benchURLs {
		src := []byte(s)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				out, _ = n.Append(out[:0], src, &r)
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	n := byName("rfc3986-scheme")
	var r Result
	src := []byte(benchURLs["clean"])
	n.Append(nil, src, &r)
	b.ReportAllocs()
	for b.Loop() {
		r.Key(LevelEquivalent)
	}
}

// BenchmarkCorpus runs Parse, rfc3986-scheme with flags, and the hash of K1 on
// real URLs, and net/url.Parse alone for comparison.
func BenchmarkCorpus(b *testing.B) {
	data := corpus(b, "urls/kasztp.txt")
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	text := make([]string, len(lines))
	for i := range lines {
		text[i] = string(lines[i])
	}
	b.Run("urlfold", func(b *testing.B) {
		n := byName("rfc3986-scheme")
		var r Result
		var out []byte
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			for _, line := range lines {
				out, _ = n.Append(out[:0], line, &r)
				r.Key(LevelEquivalent)
			}
		}
	})
	b.Run("net-url", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			for _, s := range text {
				url.Parse(s)
			}
		}
	})
}
