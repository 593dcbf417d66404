package codec

import (
	"bytes"
	"encoding/json"
	"testing"
)

// BenchmarkRefs resolves the links of the pages of the corpora, and normalizes their
// targets for comparison.
func BenchmarkRefs(b *testing.B) {
	var refs, bases, targets [][]byte
	pages, text := map[string][]byte{}, make([]byte, 0, 16<<20)
	packed := func(b []byte) []byte { // one after the other, as a caller has them
		text = append(text, b...)
		return text[len(text)-len(b):]
	}
	for line := range bytes.Lines(corpus(b, "urls/archiveorg2008_refs.jsonl")) {
		var link struct{ Page, Ref string }
		if err := json.Unmarshal(line, &link); err != nil {
			b.Fatal(err)
		}
		if target, err := Resolve(nil, []byte(link.Page), []byte(link.Ref)); err == nil {
			if pages[link.Page] == nil {
				pages[link.Page] = []byte(link.Page)
			}
			refs, bases, targets = append(refs, packed([]byte(link.Ref))), append(bases, pages[link.Page]), append(targets, packed(target))
		}
	}
	for _, name := range []string{"equiv", "rfc3986-scheme"} {
		n := byName(name)
		var r Result
		out := make([]byte, 0, 4096)
		run := func(way string, bases, srcs [][]byte) {
			b.Run(name+"/"+way, func(b *testing.B) {
				for b.Loop() {
					for i, src := range srcs {
						out, _ = n.AppendRef(out[:0], bases[i], src, &r)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(srcs)), "ns/url")
			})
		}
		run("references", bases, refs)
		run("targets", bases, targets)
		run("other base each time", append(bases[1000:], bases[:1000]...), refs)
	}
}
