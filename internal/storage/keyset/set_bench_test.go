package keyset

import "testing"

// BenchmarkAdd adds new keys (all) and known ones (known) to a set of a million
// keys; ns/op is the time for one key.
func BenchmarkAdd(b *testing.B) {
	const batch = 400
	added := make([]bool, batch)
	b.Run("new", func(b *testing.B) {
		keys := keysOf(7, 1<<20, 1<<30>>8)
		s := New(Options{})
		defer func() { _ = s.Close() }()
		for i := 0; b.Loop(); i++ {
			at := i * batch % (len(keys) - batch)
			for j := range keys[at : at+batch] {
				keys[at+j].Hi += 0x9E3779B97F4A7C15
			}
			if err := s.Add(keys[at:at+batch], added); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/key")
	})
	b.Run("known", func(b *testing.B) {
		keys := keysOf(7, 1<<20, 1<<20)
		s := New(Options{})
		defer func() { _ = s.Close() }()
		for i := 0; i+batch < len(keys); i += batch {
			if err := s.Add(keys[i:i+batch], added); err != nil {
				b.Fatal(err)
			}
		}
		for i := 0; b.Loop(); i++ {
			at := i * 7919 * batch % (len(keys) - batch)
			if err := s.Add(keys[at:at+batch], added); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/key")
	})
}
