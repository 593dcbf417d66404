package insight

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// A printer is a codec whose rows are the lines of the batch.
type printer struct{}

func (printer) Process(b *engine.Batch) {
	b.Out.Bytes = append(b.Out.Bytes, b.In[b.Next:]...)
	b.Next = len(b.In)
}
func (printer) Reject(*engine.Batch) {}
func (printer) Refuse(*engine.Batch) {}

// feed gives rows to the codecs of workers, in batches.
func feed(t *testing.T, newCodec func() engine.Codec, workers int, rows []string) {
	t.Helper()
	var codecs []engine.Codec
	for range workers {
		codecs = append(codecs, newCodec())
	}
	for i, batch := range slices.Collect(slices.Chunk(rows, 37)) {
		c := codecs[i%workers]
		c.Process(&engine.Batch{In: []byte(strings.Join(batch, ""))})
		if err := c.(engine.Stopper).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func newPrinter() engine.Codec { return printer{} }

func parse(t *testing.T, text string) By {
	t.Helper()
	b, err := ParseBy(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseBy(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		b, err := ParseBy(text)
		got := b.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	f("fetch", "fetch")
	f("site, status", "site,status")
	f("param,status", "param,status")
	f("sit", `unknown name "sit" (did you mean "site"?)`)
	f("site,site", `duplicate name "site"`)
	f("flag,param", `"param" cannot be combined with "flag": a URL can have several values of each`)
}

// TestTop: the result is the same as with a map, for every number of workers
// and every amount of memory.
func TestTop(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var rows []string
	counts := map[string]map[string]int64{}
	urls, examples := map[string]int64{}, map[string]string{}
	for range 40_000 {
		key := fmt.Sprintf("k%d", int(rng.ExpFloat64()*4000))
		day := rng.IntN(4)
		stamp := fmt.Sprintf("2026-11-%02dT%02d:15:%02d+01:00", 20+day, rng.IntN(24), rng.IntN(60))
		period := stamp[:10]
		if day == 0 {
			stamp, period = "", ""
		}
		example := fmt.Sprintf("http://h/%s?%d", key, rng.IntN(200))
		rows = append(rows, key+"\t"+stamp+"\t"+example+"\n")
		if counts[period] == nil {
			counts[period] = map[string]int64{}
		}
		counts[period][key]++
		urls[period]++
		if e, ok := examples[period+key]; !ok || len(example) < len(e) || len(example) == len(e) && example < e {
			examples[period+key] = example
		}
	}
	f := func(name string, workers int, memory int64, n int) {
		t.Helper()
		top := NewTop(parse(t, "fetch"), Options{Per: PerDay, Zone: time.FixedZone("", 3600), MaxMemory: memory, Dir: t.TempDir(), Workers: workers})
		defer func() {
			if err := top.Close(); err != nil {
				t.Error(err)
			}
		}()
		if got := strings.Join(top.Fields(), ","); got != "fetch,time,norm" {
			t.Fatalf("fields %s", got)
		}
		feed(t, top.NewCodecs(newPrinter), workers, rows)
		got, err := top.Result(n)
		if err != nil || len(got) != len(counts) {
			t.Fatalf("%s: %d periods, %v", name, len(got), err)
		}
		for i, period := range slices.Sorted(maps.Keys(counts)) {
			keys := slices.SortedFunc(maps.Keys(counts[period]), func(a, b string) int {
				return cmp.Or(cmp.Compare(counts[period][b], counts[period][a]), cmp.Compare(a, b))
			})
			p := got[i]
			if p.Name != period || p.URLs != urls[period] || p.Groups != int64(len(keys)) || len(p.Top) != min(n, len(keys)) {
				t.Fatalf("%s: period %q: %q, %d URLs, %d groups, %d listed", name, period, p.Name, p.URLs, p.Groups, len(p.Top))
			}
			for j, g := range p.Top {
				if string(g.Values) != keys[j] || g.Count != counts[period][keys[j]] || string(g.Example) != examples[period+keys[j]] {
					t.Fatalf("%s: %s %d: %s %d %s, want %s", name, period, j, g.Values, g.Count, g.Example, keys[j])
				}
			}
		}
	}
	f("one worker", 1, 0, 10)
	f("two workers", 2, 0, 10)
	f("files", 2, 900<<10, 10)
	f("none", 2, 0, 0)
	f("all", 3, 0, 1_000_000)
}

// TestTopMemory: a list that does not fit is an error, not a shorter list.
func TestTopMemory(t *testing.T) {
	top := NewTop(parse(t, "fetch"), Options{MaxMemory: 1 << 20, Dir: t.TempDir(), Workers: 1})
	defer func() { _ = top.Close() }()
	var rows []string
	for i := range 60_000 {
		rows = append(rows, fmt.Sprintf("key %d\thttp://h/%d\n", i, i))
	}
	feed(t, top.NewCodecs(newPrinter), 1, rows)
	if _, err := top.Result(60_000); err == nil || !strings.Contains(err.Error(), "--max-memory") {
		t.Error(err)
	}
}

// TestMany: names of parameters and flags count once for each URL.
func TestMany(t *testing.T) {
	f := func(by string, rows []string, want string) {
		t.Helper()
		top := NewTop(parse(t, by), Options{Workers: 1})
		feed(t, top.NewCodecs(newPrinter), 1, rows)
		got, err := top.Result(100)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, g := range got[0].Top {
			fmt.Fprintf(&b, "%s=%d;", g.Values, g.Count)
		}
		if b.String() != want {
			t.Errorf("%s: got %q, want %q", by, b.String(), want)
		}
	}
	f("param", []string{"a=1&b=2&a=3\tu\n", "%61=&&c\tu\n", "\tu\n", `x\\y=1` + "\tu\n"}, `a=2;b=1;c=1;x\\y=1;`)
	f("param", []string{"a%09b\tu\n"}, `a\tb=1;`)
	f("flag", []string{"\tu\n", "non-hex\tu\n", "non-hex,relative\tu\n"}, "non-hex=2;relative=1;")
	f("status,flag", []string{"200\tnon-hex,relative\tu\n", "404\t\tu\n"}, "200\tnon-hex=1;200\trelative=1;")
	f("flag,status", []string{"non-hex,relative\t200\tu\n"}, "non-hex\t200=1;relative\t200=1;")
	f("site,status", []string{"h\t200\tu\n", "\t404\tu\n", "h\t200\tu\n"}, "h\t200=2;\t404=1;")
}

// TestPeriod checks the borders of periods.
func TestPeriod(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	f := func(per Per, zone *time.Location, in, want string) {
		t.Helper()
		c := calendar{per: per, zone: zone}
		for range 2 { // the second call finds the first one's result
			if got := string(c.period([]byte(in))); got != want {
				t.Errorf("%s: got %q, want %q", in, got, want)
			}
		}
	}
	f(PerDay, time.UTC, "2026-11-23T00:30:00+01:00", "2026-11-22")
	f(PerDay, berlin, "2026-11-22T23:30:00Z", "2026-11-23")
	f(PerHour, time.UTC, "2026-11-23T00:30:59.123+01:00", "2026-11-22T23:00:00Z")
	f(PerHour, berlin, "2026-07-01T10:59:60Z", "2026-07-01T12:00:00+02:00")
	f(PerHour, time.FixedZone("", 5*3600+30*60), "2026-07-01T10:15:00Z", "2026-07-01T15:00:00+05:30")
	f(PerHour, time.UTC, "", "")
	f(PerHour, time.UTC, "2026-11-23T00:30:0x", "")
}

// TestCount: the numbers are the same as with a map, exactly or nearly.
func TestCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var rows []string
	seen := map[string]map[string]bool{}
	urls, without := map[string]int64{}, map[string]int64{}
	for range 60_000 {
		key := fmt.Sprint(rng.IntN(30_000))
		hour := fmt.Sprintf("2026-11-23T%02d:00:00Z", rng.IntN(3))
		urls[hour]++
		if seen[hour] == nil {
			seen[hour] = map[string]bool{}
		}
		if rng.IntN(10) == 0 {
			key = ""
			without[hour]++
		} else {
			seen[hour][key] = true
		}
		rows = append(rows, key+"\t"+strings.Replace(hour, ":00:00", ":59:01", 1)+"\n")
	}
	var exact []Total
	for _, workers := range []int{1, 2, 3} {
		for _, approx := range []bool{false, true} {
			c := NewCount([]By{parse(t, "fetch")}, approx, Options{Per: PerHour, Zone: time.UTC, Dir: t.TempDir()})
			feed(t, c.NewCodecs(newPrinter), workers, rows)
			got := c.Result()
			if len(got) != 3 {
				t.Fatalf("%d rows", len(got))
			}
			for _, g := range got {
				want := int64(len(seen[g.Period]))
				off := float64(g.Distinct-want) / float64(want)
				if g.URLs != urls[g.Period] || g.Without != without[g.Period] || !approx && off != 0 || off > 0.04 || off < -0.04 {
					t.Errorf("%d workers: %+v, want %d", workers, g, want)
				}
			}
			if approx {
				if exact == nil {
					exact = got
				} else if !slices.Equal(exact, got) {
					t.Errorf("%d workers: another estimate", workers)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	empty := NewCount([]By{parse(t, "fetch"), parse(t, "site,status")}, false, Options{})
	if got := empty.Result(); len(got) != 2 || got[1].By != "site,status" || got[1].URLs != 0 {
		t.Errorf("empty: %+v", got)
	}
}

// TestRowAllocs: a row whose key is known allocates nothing.
func TestRowAllocs(t *testing.T) {
	top := NewTop(parse(t, "param,status"), Options{Per: PerHour, Zone: time.UTC, Workers: 1})
	codec := top.NewCodecs(newPrinter)()
	rows := bytes.Repeat([]byte("a=1&b=2\t200\t2026-11-23T10:00:00Z\thttp://h/\n"), 10)
	b := &engine.Batch{In: rows}
	run := func() {
		b.Next, b.Out.Bytes = 0, b.Out.Bytes[:0]
		codec.Process(b)
	}
	run()
	if n := testing.AllocsPerRun(20, run); n > 10 { // one closure for each row
		t.Errorf("%v allocations for 10 rows", n)
	}
}
