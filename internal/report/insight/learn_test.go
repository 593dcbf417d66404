package insight

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// A site answers requests: the size of a page follows from its path and its
// meaningful parameters.
type site struct {
	rng  *rand.Rand
	size func(page string) int
}

var (
	inert      = []string{"zsess", "cachebust", "clicktag", "from_widget", "reqno"}
	meaningful = []string{"id", "page", "lang", "sort", "color"}
)

// row returns a request with two meaningful parameters and one inert one.
func (s *site) row() string {
	var query []string
	for _, i := range s.rng.Perm(len(meaningful))[:2] {
		query = append(query, fmt.Sprintf("%s=%d", meaningful[i], s.rng.IntN(25)))
	}
	slices.Sort(query)
	path := fmt.Sprintf("/p%c", 'a'+s.rng.IntN(2))
	page := path + strings.Join(query, "&")
	if s.rng.IntN(5) > 0 {
		query = append(query, fmt.Sprintf("%s=%d", inert[s.rng.IntN(len(inert))], s.rng.IntN(60)))
		s.rng.Shuffle(len(query), func(i, j int) { query[i], query[j] = query[j], query[i] })
	}
	visit := ""
	if s.rng.IntN(2) == 0 {
		visit = fmt.Sprintf("/v/%d", 100000+s.rng.IntN(30)) // an inert segment
	}
	status, size := 200, s.size(page)
	if s.rng.IntN(100) == 0 {
		status, size = []int{304, 500}[s.rng.IntN(2)], s.rng.IntN(2)*300
	}
	return fmt.Sprintf("https://shop.example%s%s?%s\t%d\t%d\n", visit, path, strings.Join(query, "&"), status, size)
}

func learn(t *testing.T, rows []string, workers int, memory int64) (list []Proposal, others int) {
	t.Helper()
	p, _ := codec.Lookup("equiv")
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLearner(n, "", Options{Workers: workers, MaxMemory: memory})
	feed(t, l.NewCodecs(newPrinter), workers, rows)
	list, others, err = l.Proposals()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	return list, others
}

// TestLearn: exactly the inert parameters and the inert segment are proposed, for
// every number of workers.
func TestLearn(t *testing.T) {
	s := &site{rng: rand.New(rand.NewPCG(1, 2)), size: func(page string) int {
		n := 1000
		for _, c := range page {
			n = (n*31 + int(c)) % 90_001
		}
		return n + 500
	}}
	var rows []string
	for range 30_000 {
		rows = append(rows, s.row())
	}
	list, others := learn(t, rows, 1, 0)
	var got []string
	for _, p := range list {
		if p.Host != "shop.example" || p.Pairs < LeastPairs || p.Values < LeastValues || p.Same*100 < p.Pairs*LeastSame || p.Example == "" {
			t.Errorf("%+v", p)
		}
		got = append(got, p.Kind+" "+p.Name)
	}
	var want []string
	for _, name := range inert {
		want = append(want, "param "+name)
	}
	for _, c := range "ab" {
		want = append(want, fmt.Sprintf("segment /v/[{int}]/p%c", c))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) || others < len(meaningful) {
		t.Errorf("got %q and %d others, want %q", got, others, want)
	}
	for _, workers := range []int{2, 3} {
		if again, _ := learn(t, rows, workers, 1<<20); !reflect.DeepEqual(again, list) {
			t.Errorf("%d workers: other proposals", workers)
		}
	}
}

// TestLearnNothing: without evidence there are no proposals, however frequent a
// parameter is.
func TestLearnNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f := func(name string, size func(page string) int) {
		t.Helper()
		s := &site{rng: rng, size: size}
		var rows []string
		for range 8_000 {
			rows = append(rows, s.row())
		}
		if list, _ := learn(t, rows, 2, 0); len(list) > 0 {
			t.Errorf("%s: %+v", name, list)
		}
	}
	f("every response has another size", func(string) int { return 1 + rng.IntN(1_000_000) })
	f("all responses have the same size", func(string) int { return 4096 })
	f("no sizes", func(string) int { return 0 })
	f("2 of 100 responses differ", func(page string) int { return len(page)*1000 + max(0, rng.IntN(100)-97) })
}

// TestLearnContent: a member of JSON records stands for the response.
func TestLearnContent(t *testing.T) {
	w := &learning{l: NewLearner(nil, "page.hash", Options{})}
	f := func(rec, want string) {
		t.Helper()
		if got := string(w.appendResponse(nil, [][]byte{nil, []byte(rec)})); got != want {
			t.Errorf("%s: got %q, want %q", rec, got, want)
		}
	}
	f(`{"page":{"hash":"a1"}}`, `"a1"`)
	f(`{"page":{"hash":7}}`, `7`)
	f(`{"page":{"hash":""}}`, ``)
	f(`{"page":"x"}`, ``)
	f(`{}`, ``)
	f(`{`, ``)
}
