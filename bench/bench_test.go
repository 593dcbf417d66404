package bench

import (
	"strings"
	"testing"
)

// BenchmarkPeers runs every peer on every set. One operation is one pass over
// the set; ns/URL is the relevant figure.
func BenchmarkPeers(b *testing.B) {
	sets := Generated()
	links, err := Real()
	switch {
	case err != nil:
		b.Fatal(err)
	case links == nil:
		b.Log("URLFOLD_CORPORA is not set: skipping the set of real URLs")
	default:
		sets = append(sets, links)
	}
	plain := strings.NewReplacer(" ", "_", "/", ".") // a '/' separates levels of names in -bench
	for _, s := range sets {
		for _, p := range Peers() {
			b.Run(s.Name+"/"+plain.Replace(p.Name), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(s.Bytes))
				refused := 0
				for b.Loop() {
					_, refused = p.Run(s)
				}
				n := float64(len(s.URLs))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/URL")
				b.ReportMetric(float64(refused)/n*100, "%refused")
			})
		}
	}
}
