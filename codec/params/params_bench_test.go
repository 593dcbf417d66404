package params

import "testing"

var benchQueries = []struct{ name, query string }{
	{"none", ""},
	{"plain", "category=shoes&color=red&page=2&size=42"},
	{"unsorted", "size=42&page=2&color=red&category=shoes"},
	{"escaped", "q=caf%C3%A9+au%20lait&url=https%3a%2f%2fexample.com%2f"},
	{"campaign", "id=42&utm_source=news&utm_medium=mail&utm_campaign=autumn&gclid=Cj0KCQiA"},
	{"signed", "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20261121T000000Z&X-Amz-Expires=60&X-Amz-Signature=f00"},
}

func benchMatchers(b *testing.B) map[string]*Matcher {
	sample, err := ParseClearURLs([]byte(clearSample))
	if err != nil {
		b.Fatal(err)
	}
	return map[string]*Matcher{"no lists": nil, "default": compile(b, Default()), "scoped": compile(b, Default(), sample)}
}

func BenchmarkAppendPairs(b *testing.B) {
	for _, q := range benchQueries {
		b.Run(q.name, func(b *testing.B) {
			query, pairs := []byte(q.query), make([]Pair, 0, 16)
			b.ReportAllocs()
			b.SetBytes(int64(len(query)))
			for b.Loop() {
				pairs = AppendPairs(pairs[:0], query)
			}
		})
	}
}

func BenchmarkAppendKeyQuery(b *testing.B) {
	for name, m := range benchMatchers(b) {
		for _, q := range benchQueries {
			b.Run(name+"/"+q.name, func(b *testing.B) {
				var s Scratch
				host, path, query, dst := []byte("www.example.com"), []byte("/a/b"), []byte(q.query), make([]byte, 0, 512)
				b.ReportAllocs()
				b.SetBytes(int64(len(query)))
				for b.Loop() {
					appendKeyQuery(dst, query, m, m.Site(host, path, &s), &s)
				}
			})
		}
	}
}

func BenchmarkClearURLs(b *testing.B) {
	l, err := ParseClearURLs(corpus(b, "tracking/clearurls_data.min.json"))
	if err != nil {
		b.Fatal(err)
	}
	m := compile(b, Default(), l)
	for _, host := range []string{"www.example.com", "www.amazon.co.uk"} {
		for _, q := range benchQueries {
			b.Run(host+"/"+q.name, func(b *testing.B) {
				var s Scratch
				h, path, query, dst := []byte(host), []byte("/a/b"), []byte(q.query), make([]byte, 0, 512)
				b.ReportAllocs()
				b.SetBytes(int64(len(query)))
				for b.Loop() {
					appendKeyQuery(dst, query, m, m.Site(h, path, &s), &s)
				}
			})
		}
	}
}

func BenchmarkCutPathSession(b *testing.B) {
	dst := make([]byte, 0, 256)
	for _, p := range []string{"/a/b/c.html", "/a/b;jsessionid=F00/c", "/a/(S(abcdefghij0123456789klmn))/x.aspx"} {
		b.Run(p, func(b *testing.B) {
			path := []byte(p)
			b.ReportAllocs()
			for b.Loop() {
				CutPathSession(dst, path)
			}
		})
	}
}
