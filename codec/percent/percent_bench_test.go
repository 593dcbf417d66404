package percent

import "testing"

// benchInputs are a clean path, one with a few valid escapes, and one with many
// defects.
var benchInputs = []struct {
	name string
	src  []byte
}{
	{"clean", []byte("/wiki/Uniform_Resource_Identifier/syntax/components/of-a-path/2026.html")},
	{"escapes", []byte("/wiki/Liste_der_gr%C3%B6%C3%9Ften_St%C3%A4dte/%28Europa%29/Seite%20zwei.html")},
	{"utf8", []byte("/wiki/%E4%BE%8B%E3%81%88/%E5%BC%95%E3%81%8D%E5%87%BA%E3%81%97/%D0%A1%D1%81%D1%8B%D0%BB%D0%BA%D0%B0")},
	{"dirty", []byte("/a b/%7euser/%zz/100%/..%2f..%2Fetc%2fpasswd/%C0%AF%2541%25E4%25B8%25AD/%u0041|x^y%41%42%43")},
}

func BenchmarkAppendNormal(b *testing.B) {
	for _, rule := range []struct {
		name string
		r    EscapeRules
	}{{"keep", full(WHATWGPath, MalformedKeep)}, {"rfc", full(RFC3986Path, MalformedEncode)}, {"no-add", full(None, MalformedKeep)}} {
		for _, in := range benchInputs {
			b.Run(rule.name+"/"+in.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(in.src)))
				buf := make([]byte, 0, 1024)
				for b.Loop() {
					buf, _ = AppendNormal(buf[:0], in.src, rule.r)
				}
			})
		}
	}
}

func BenchmarkAppendDefects(b *testing.B) {
	for _, in := range benchInputs {
		b.Run(in.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in.src)))
			buf := make([]Defect, 0, 64)
			for b.Loop() {
				buf, _ = appendDefects(buf[:0], in.src, 16)
			}
		})
	}
}

func BenchmarkAppendEncode(b *testing.B) {
	for _, in := range benchInputs {
		b.Run(in.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in.src)))
			buf := make([]byte, 0, 1024)
			for b.Loop() {
				buf = AppendEncode(buf[:0], in.src, RFC3986Path)
			}
		})
	}
}

func BenchmarkAppendDecode(b *testing.B) {
	for _, in := range benchInputs {
		b.Run(in.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in.src)))
			buf := make([]byte, 0, 1024)
			for b.Loop() {
				buf = AppendDecode(buf[:0], in.src)
			}
		})
	}
}
