package keydiff

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// slowJudge is the readable twin of graph.judge: it compares sets of URLs.
func slowJudge(pairs [][2]codec.Key) (j judgment) {
	byA, byB := map[codec.Key]map[codec.Key]int64{}, map[codec.Key]map[codec.Key]int64{}
	for _, p := range pairs {
		for _, m := range []struct {
			of       map[codec.Key]map[codec.Key]int64
			key, sub codec.Key
		}{{byA, p[0], p[1]}, {byB, p[1], p[0]}} {
			if m.of[m.key] == nil {
				m.of[m.key] = map[codec.Key]int64{}
			}
			m.of[m.key][m.sub]++
		}
	}
	several := func(by map[codec.Key]map[codec.Key]int64) (e effect) {
		for _, parts := range by {
			if len(parts) < 2 {
				continue
			}
			e.count++
			e.parts += len(parts)
			for _, n := range parts {
				e.urls += n
			}
		}
		return e
	}
	for a, parts := range byA {
		for b := range parts {
			if len(parts) == 1 && len(byB[b]) == 1 {
				j.unchanged++
				if a != b {
					j.rekeyed++
				}
			}
		}
	}
	j.urls, j.groupsA, j.groupsB = int64(len(pairs)), len(byA), len(byB)
	j.merges, j.splits = several(byB), several(byA)
	return j
}

func TestJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		g := newGraph(2)
		var pairs [][2]codec.Key
		keys := 1 + rng.Uint64N(12)
		for range rng.IntN(40) {
			p := [2]codec.Key{codec.KeyFromUint64s(rng.Uint64N(keys), 0), codec.KeyFromUint64s(rng.Uint64N(keys), 0)}
			pairs = append(pairs, p)
			g.add(p[0], p[1], []byte("http://h/"), nil)
		}
		got, want := *g.judge(3, 2), slowJudge(pairs)
		for _, e := range []*effect{&got.merges, &got.splits} {
			for i, gr := range e.groups {
				if i > 0 && e.groups[i-1].urls < gr.urls || len(gr.parts) > 2 || len(gr.parts) < 2 || gr.parts[0].urls < gr.parts[1].urls {
					t.Errorf("groups out of order, or of the wrong length: %+v", e.groups)
				}
			}
			if len(e.groups) != min(e.count, 3) {
				t.Errorf("%d groups of %d", len(e.groups), e.count)
			}
			e.groups = nil
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v:\n got %+v\nwant %+v", pairs, got, want)
		}
	}
}

// TestExamples checks that the examples do not depend on the order of the input,
// and that their text is bounded.
func TestExamples(t *testing.T) {
	urls := []string{"http://h/bb", "http://h/b", "http://h/a", "/c", "http://h/"}
	for range 20 {
		rand.Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
		g := newGraph(2)
		for _, u := range urls {
			g.add(codec.KeyFromUint64s(0, 1), codec.KeyFromUint64s(0, 2), []byte(u), []byte("/norm"))
			g.reject(rejectedByB, []byte(u), []byte("/norm"))
		}
		if e := g.pairs[0].example; e != (example{"/c", "/norm"}) || g.pairs[0].urls != 5 || g.room != maxExampleBytes-7 {
			t.Errorf("example %+v of %d URLs, room %d", e, g.pairs[0].urls, g.room)
		}
		if r := g.rejected[rejectedByB]; r.urls != 5 || fmt.Sprint(r.examples) != "[{/c /norm} {http://h/ }]" {
			t.Errorf("rejects %+v", r)
		}
	}
	g := newGraph(1)
	g.room = 20
	for i := range uint64(3) {
		g.add(codec.KeyFromUint64s(0, i), codec.KeyFromUint64s(0, i), []byte("http://h/x"), nil)
	}
	if !g.crowded || g.room != 0 || g.pairs[2].url != "" || g.pairs[2].urls != 1 {
		t.Errorf("crowded %v, room %d, %+v", g.crowded, g.room, g.pairs)
	}
}
