package keydiff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

func side(t *testing.T, profile string) Side {
	t.Helper()
	p, err := codec.Lookup(profile)
	if err != nil {
		t.Fatalf("no profile %s", profile)
	}
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return Side{Normalizer: n, Level: p.Key}
}

// shadowLog returns batches of URLs that the profiles merge and split, some that
// a profile rejects, and lines that are no URL.
func shadowLog() (batches []string) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		var b strings.Builder
		for range 500 {
			n := r.IntN(3000)
			switch r.IntN(8) {
			case 0:
				fmt.Fprintf(&b, "http://h.example/%d?utm_source=%d\n", n, r.IntN(4))
			case 1:
				fmt.Fprintf(&b, "https://www.h.example//%d/index.html#%d\n", n, r.IntN(3))
			case 2:
				fmt.Fprintf(&b, "http://h.example/%%7E%d\nhttp://h.example/~%d\n", n, n)
			case 3:
				fmt.Fprintf(&b, "http://h.example:99999/%d\n", n)
			case 4:
				fmt.Fprintf(&b, "http://[/%d\n\n", n)
			case 5:
				fmt.Fprintf(&b, "http:\\\\h.example\\%d\n", n)
			default:
				fmt.Fprintf(&b, "http://h.example/%d\n", n)
			}
		}
		batches = append(batches, b.String())
	}
	return batches
}

// compareBoth runs a Diff and a Shadow on the same input.
func compareBoth(t *testing.T, a, b Side, oneIn int, memory int64) (*graph, *Shadow) {
	t.Helper()
	jobs := [2]*record.Job{}
	for i, s := range []Side{a, b} {
		job, err := ShadowJob(record.Config{Format: "lines", Normalizer: a.Normalizer, Level: a.Level, Redact: []string{"passwords"}, OnRejected: record.DispositionDead, Facts: true}, s)
		if err != nil {
			t.Fatal(err)
		}
		jobs[i] = job
	}
	d, err := New(a, b, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := NewShadow(a, b, oneIn, memory, time.Now())
	newA, newB := engine.NewRecordCodec(jobs[0]), engine.NewRecordCodec(jobs[1])
	codec := s.Wrap(d.NewCodecs(newA, newB), jobs[:1], jobs[1:])()
	for _, text := range shadowLog() {
		codec.Process(&engine.Batch{Lane: new(engine.Lane), In: []byte(text)})
	}
	return d.graph, s
}

// TestShadowIsDiff compares the counts of a Shadow of all keys with those of the
// report of a Diff, in both directions.
func TestShadowIsDiff(t *testing.T) {
	for _, names := range [][2]string{{"equiv", "analytics"}, {"analytics", "equiv"}, {"whatwg", "rfc3986"}, {"logclean", "crawler"}} {
		a, b := side(t, names[0]), side(t, names[1])
		g, s := compareBoth(t, a, b, 1, 1<<30)
		rejected := [numRejections]int64{}
		for i := range g.rejected {
			rejected[i] = g.rejected[i].urls
		}
		j := g.judge(1, 1)
		effect := func(e effect) ShadowEffect { return ShadowEffect{int64(e.count), int64(e.parts), e.urls} }
		st := s.Status()
		if st.OneIn != 1 || st.Estimated || st.URLs != j.urls || st.GroupsA != int64(j.groupsA) || st.GroupsB != int64(j.groupsB) ||
			st.Merges != effect(j.merges) || st.Splits != effect(j.splits) || s.rejected != rejected || s.records != g.records {
			t.Errorf("%v: shadow %+v %v, diff %+v %+v %v", names, st, s.rejected, j, j.merges, rejected)
		}
		if j.merges.count+j.splits.count == 0 || rejected == [numRejections]int64{} {
			t.Errorf("%v: nothing to compare: %+v", names, j)
		}
	}
}

// TestShadowSample compares the counts of a Shadow of some keys with those that
// the pairs of a Diff have for these keys, also when the memory is full and
// fewer keys are left.
func TestShadowSample(t *testing.T) {
	for _, c := range []struct {
		oneIn  int
		memory int64
		want   uint64 // OneIn at the end
	}{{64, 1 << 30, 64}, {4, 1 << 30, 4}, {1, 600 * pairBytes, 0}} {
		a, b := side(t, "equiv"), side(t, "analytics")
		g, s := compareBoth(t, a, b, c.oneIn, c.memory)
		st := s.Status()
		mask := st.OneIn - 1
		if !st.Estimated || c.want != 0 && st.OneIn != c.want || c.want == 0 && (st.OneIn < 4 || len(s.merges.pairs)+len(s.splits.pairs) > 600) {
			t.Errorf("%+v: one in %d, %d pairs", c, st.OneIn, len(s.merges.pairs)+len(s.splits.pairs))
		}
		want := func(key, part func(*pair) codec.Key) (groups int64, e ShadowEffect) {
			urls, parts := map[codec.Key]int64{}, map[codec.Key]map[codec.Key]bool{}
			for i := range g.pairs {
				p := &g.pairs[i]
				k := key(p)
				if _, lo := k.Uint64s(); lo&mask == 0 {
					if parts[k] == nil {
						parts[k] = map[codec.Key]bool{}
					}
					urls[k] += p.urls
					parts[k][part(p)] = true
				}
			}
			for k, set := range parts {
				if len(set) > 1 {
					e.Groups++
					e.Parts += int64(len(set))
					e.URLs += urls[k]
				}
			}
			return int64(len(urls)), e
		}
		keyA, keyB := func(p *pair) codec.Key { return p.a }, func(p *pair) codec.Key { return p.b }
		groupsB, merges := want(keyB, keyA)
		groupsA, splits := want(keyA, keyB)
		if st.GroupsA != groupsA || st.GroupsB != groupsB || st.Merges != merges || st.Splits != splits || merges.Groups == 0 {
			t.Errorf("%+v: %+v, want %d and %d groups, merges %+v, splits %+v", c, st, groupsA, groupsB, merges, splits)
		}
	}
}
