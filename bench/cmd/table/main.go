// Table prints the time that each peer takes per URL, on one processor, as
// medians over interleaved rounds: every round runs every peer on every set, so
// that a slow phase of the machine affects all of them. Ratios are computed
// within a round. Absolute times vary from day to day; the ratios are what
// counts.
//
//	go run ./cmd/table [-rounds 9] [-pass 40ms]
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urlfold/urlfold/bench"
)

func main() {
	rounds := flag.Int("rounds", 9, "number of rounds; their median is printed")
	pass := flag.Duration("pass", 40*time.Millisecond, "minimum time per peer and set in a round")
	flag.Parse()
	sets := bench.Generated()
	links, err := bench.Real()
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
	if links == nil {
		fmt.Fprintln(os.Stderr, "table: URLFOLD_CORPORA is not set: skipping the set of real URLs")
	} else {
		sets = append([]*bench.Set{links}, sets...)
	}
	// With one processor, the garbage collector uses the time of the peer that
	// produced the garbage.
	runtime.GOMAXPROCS(1)
	t := newTable(sets, bench.Peers(), *pass)
	for n := range *rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", n+1, *rounds)
		t.round(n)
	}
	fmt.Printf("%s; one of them is used; median of %d rounds\n\n", bench.Machine(), *rounds)
	t.print()
}

// A cell holds the results of one peer on one set.
type cell struct {
	set     *bench.Set
	peer    bench.Peer
	passes  int       // per round
	refused int       // number of rejected URLs of the set
	allocs  float64   // per URL
	ns      []float64 // per URL, one value per round
}

// A table has a row of cells for each set, ordered by peer.
type table struct{ rows [][]*cell }

// newTable warms up every peer and determines how many passes fill the time.
func newTable(sets []*bench.Set, peers []bench.Peer, pass time.Duration) *table {
	t := &table{}
	for _, s := range sets {
		var row []*cell
		for _, p := range peers {
			c := &cell{set: s, peer: p}
			_, c.refused = p.Run(s)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			p.Run(s)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			c.allocs = float64(after.Mallocs-before.Mallocs) / float64(len(s.URLs))
			c.passes = 1 + int(pass/max(took, 1))
			row = append(row, c)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// round measures every cell once. It rotates the order of the peers, so that no
// peer always runs with the caches and the heap that the same other peer left.
func (t *table) round(n int) {
	for _, row := range t.rows {
		for i := range row {
			c := row[(i+n)%len(row)]
			runtime.GC()
			start := time.Now()
			for range c.passes {
				c.peer.Run(c.set)
			}
			took := time.Since(start)
			c.ns = append(c.ns, float64(took.Nanoseconds())/float64(c.passes*len(c.set.URLs)))
		}
	}
}

func (t *table) print() {
	for _, row := range t.rows {
		s := row[0].set
		fmt.Printf("%s: %d URLs, %d bytes on average\n", s.Name, len(s.URLs), s.Bytes/len(s.URLs))
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "peer\tns/URL\tMB/s\tallocs/URL\trefused\tspeed\t\n")
		base := row[slices.IndexFunc(row, func(c *cell) bool { return c.peer.Name == bench.Baseline })]
		for _, c := range row {
			ns := bench.Median(c.ns)
			fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.2f\t%.1f %%\t%.2f x\t\n", c.peer.Name, ns,
				float64(s.Bytes)/float64(len(s.URLs))/ns*1e3, c.allocs,
				float64(c.refused)/float64(len(s.URLs))*100, bench.Median(bench.Ratios(base.ns, c.ns)))
		}
		if err := w.Flush(); err != nil {
			fmt.Fprintln(os.Stderr, "table:", err)
			os.Exit(1)
		}
		fmt.Println()
	}
	fmt.Printf("speed: relative to %s.\n", bench.Baseline)
}
