package insight

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
)

// surveyRows returns rows of many spellings of few pages.
func surveyRows(n int) (rows []string) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range n {
		path := fmt.Sprintf("/p%d", rng.IntN(50))
		switch rng.IntN(6) {
		case 0:
			path += fmt.Sprintf("?utm_source=%s&utm_campaign=c%d", []string{"news", "shop"}[rng.IntN(2)], rng.IntN(3))
		case 1:
			path += "?b=2&a=1"
		case 2:
			path += "?a=1&b=2"
		}
		host := []string{"https://www.example.com", "http://example.com", "https://example.org", ""}[rng.IntN(4)]
		stamp := ""
		if rng.IntN(10) > 0 {
			stamp = fmt.Sprintf("2026-11-23T%02d:%02d:00Z", rng.IntN(24), rng.IntN(60))
		}
		flags := []string{"", "relative", "non-hex,relative"}[rng.IntN(3)]
		status := []string{"200", "404", "503", "", "999"}[rng.IntN(5)]
		written := path
		if rng.IntN(3) == 0 {
			written = strings.Replace(path, "/p", "/%70", 1)
		}
		rows = append(rows, strings.Join([]string{written, host + path, stamp, status, flags}, "\t")+"\n")
	}
	return rows
}

// survey returns the findings about rows.
func survey(t *testing.T, rows []string, workers int, memory int64) *Findings {
	t.Helper()
	p, _ := codec.Lookup("equiv")
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSurvey(n, Options{Zone: time.UTC, Workers: workers, MaxMemory: memory, Dir: t.TempDir()})
	feed(t, s.NewCodecs(newPrinter), workers, rows)
	f, err := s.Findings(10)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return f
}

// TestSurvey compares the findings with counts of a map.
func TestSurvey(t *testing.T) {
	rows := surveyRows(20_000)
	f := survey(t, rows, 2, 0)
	written, norms := map[string]bool{}, map[string]bool{}
	flags, params, sites := map[string]int64{}, map[string]int64{}, map[string]int64{}
	codes, untimed := map[string]int64{}, int64(0)
	for _, row := range rows {
		c := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		norms[c[1]] = true
		if strings.HasSuffix(c[1], c[0]) {
			written[c[1]] = true
		} else {
			written[c[0]+" "+c[1]] = true
		}
		if c[2] == "" {
			untimed++
		}
		codes[c[3]]++
		if strings.Contains(c[4], "non-hex") {
			flags["non-hex"]++
		}
		_, query, _ := strings.Cut(c[1], "?")
		for pair := range strings.SplitSeq(query, "&") {
			if name, _, ok := strings.Cut(pair, "="); ok {
				params[name]++
			}
		}
		for _, site := range []string{"example.com", "example.org"} {
			if strings.Contains(c[1], site) {
				sites[site]++
			}
		}
	}
	if f.URLs != int64(len(rows)) || f.Bins[""].URLs != untimed || len(f.Bins) < 24*50 || f.Step != time.Minute {
		t.Errorf("%d URLs, %d without a time, %d bins of %v", f.URLs, f.Bins[""].URLs, len(f.Bins), f.Step)
	}
	if f.Levels[0] != int64(len(written)) || f.Levels[1] != int64(len(norms)) || !f.Exact {
		t.Errorf("levels %v, want %d and %d", f.Levels, len(written), len(norms))
	}
	// Three hosts, 50 pages, with and without a and b.
	if f.Levels[5] != 3*50*2 || f.Pages.Distinct != f.Levels[5] {
		t.Errorf("%d and %d pages", f.Levels[5], f.Pages.Distinct)
	}
	for _, l := range []struct {
		name string
		list List
		want map[string]int64
	}{{"params", f.Params, params}, {"sites", f.Sites, sites}} {
		got := map[string]int64{}
		for _, g := range l.list.Top {
			got[string(g.Values)] = g.Count
		}
		if !reflect.DeepEqual(got, l.want) {
			t.Errorf("%s: got %v, want %v", l.name, got, l.want)
		}
	}
	if f.Campaigns.Distinct != 6 || !strings.HasPrefix(string(f.Campaigns.Top[0].Values), "news\t\tc") && !strings.HasPrefix(string(f.Campaigns.Top[0].Values), "shop\t\tc") {
		t.Errorf("campaigns %d %q", f.Campaigns.Distinct, f.Campaigns.Top[0].Values)
	}
	if f.Status[404] != codes["404"] || f.Status[0] != codes[""] || f.Status[999] != codes["999"] {
		t.Errorf("status %v, want %v", f.Status, codes)
	}
	if list := f.Flags(); len(list) != 1 || list[0] != codec.FlagNonHex {
		t.Errorf("flags %v", list)
	}
	n := int64(0)
	for _, h := range f.Bins {
		n += h.Flags[codec.FlagNonHex]
	}
	if n != flags["non-hex"] {
		t.Errorf("%d non-hex, want %d", n, flags["non-hex"])
	}
}

// TestHourly: a long log is counted by the hour, by all workers alike.
func TestHourly(t *testing.T) {
	var rows []string
	start := time.Date(2026, 11, 23, 0, 30, 0, 0, time.UTC)
	for i := range MaxMinutes + 40 {
		rows = append(rows, fmt.Sprintf("/a\t/a\t%s\t200\tnon-hex\n", start.Add(time.Duration(i)*time.Minute).Format(time.RFC3339)))
	}
	for _, workers := range []int{1, 3} {
		f := survey(t, rows, workers, 0)
		first := f.Bins["2026-11-23T00:00:00Z"]
		if f.Step != time.Hour || len(f.Bins) != 38 || first == nil || first.URLs != 30 || first.Flags[codec.FlagNonHex] != 30 || first.Status[2] != 30 {
			t.Errorf("%d workers: %d bins of %v, the first %+v", workers, len(f.Bins), f.Step, first)
		}
		if f := survey(t, rows[:60], workers, 0); f.Step != time.Minute || len(f.Bins) != 60 {
			t.Errorf("%d workers: %d bins of %v for an hour", workers, len(f.Bins), f.Step)
		}
	}
}

// TestSurveyWorkers: neither the number of workers nor the memory changes the
// findings.
func TestSurveyWorkers(t *testing.T) {
	rows := surveyRows(20_000)
	want := survey(t, rows, 1, 0)
	for _, workers := range []int{1, 2, 3} {
		for _, memory := range []int64{0, 1 << 20} {
			if got := survey(t, rows, workers, memory); !reflect.DeepEqual(got, want) {
				t.Errorf("%d workers, %d bytes: other findings", workers, memory)
			}
		}
	}
}

// distinctOf is the readable twin of levels: a set for each level, of the pages in a
// sample of the given bits.
func distinctOf(list []spelling, bits uint) (n [NumLevels]int64) {
	for k := range n {
		set := map[uint64]bool{}
		for _, s := range list {
			if s[0]&(1<<bits-1) == 0 {
				set[s[NumLevels-1-k]] = true
			}
		}
		n[k] = int64(len(set)) << bits
	}
	return n
}

// TestLevels: the numbers are those of sets, whatever the sample, the order, the
// repetitions, and however the spellings are divided.
func TestLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var list []spelling
	for range 200 {
		var s spelling
		for n := 0; n < NumLevels; n = rng.IntN(NumLevels + 1) { // shares the n highest levels
			for k := n; k < NumLevels; k++ {
				s[k] = rng.Uint64()
			}
			list = append(list, s)
		}
	}
	list = append(list, list[:300]...)
	for bits := range uint(4) {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		all, first, second := &levels{}, &levels{}, &levels{}
		for i := range list {
			all.add(&list[i])
			[]*levels{first, second}[rng.IntN(2)].add(&list[i])
		}
		all.keep(bits)
		first.keep(bits)
		second.merge(first)
		want := distinctOf(list, bits)
		for _, l := range []*levels{all, second} {
			if got, exact := l.distinct(); got != want || exact != (bits == 0) {
				t.Errorf("%d bits: got %v, exact %v, want %v", bits, got, exact, want)
			}
		}
	}
}

// TestManyLevels: more spellings than the sample holds leave half of the pages in it, or
// less.
func TestManyLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	all, first, second := &levels{}, &levels{}, &levels{}
	want := int64(0)
	for i := range maxSpellings * 3 / 2 {
		h := rng.Uint64()
		s := spelling{h, h, h, h, h, h}
		all.add(&s)
		[]*levels{first, second}[i%2].add(&s)
		if h&1 == 0 {
			want += 2
		}
	}
	second.merge(first)
	for _, l := range []*levels{all, second} {
		if n, exact := l.distinct(); exact || n != [NumLevels]int64{want, want, want, want, want, want} {
			t.Errorf("got %v, exact %v, want %d", n, exact, want)
		}
	}
}
