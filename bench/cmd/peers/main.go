// Peers compares urlfold with other programs on a file that the user chooses. It
// runs the jobs in turn, once a round, so that a slow phase of the machine
// affects all of them, and prints medians and ratios within a round.
//
//	go run ./cmd/peers -bin DIR [-rounds 7] [-charts DIR] FILE
//	go run ./cmd/peers -bin DIR [-rounds 7] -sets
//
// DIR holds the programs that peers.sh builds. Programs that are not installed
// are named and left out. With -sets, it compares only the libraries, on the sets
// of URLs of package bench.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/urlfold/urlfold/bench"
)

func main() {
	bin := flag.String("bin", "", "folder of the programs that peers.sh builds")
	rounds := flag.Int("rounds", 7, "number of rounds; their median is printed")
	charts := flag.String("charts", "", "folder to write programs.svg and libraries.svg to")
	sets := flag.Bool("sets", false, "compare the libraries on the sets of URLs, without a file")
	flag.Parse()
	if *bin == "" || *sets != (flag.NArg() == 0) || flag.NArg() > 1 {
		fmt.Fprintln(os.Stderr, "usage: peers -bin DIR [-rounds N] FILE\n       peers -bin DIR [-rounds N] -sets")
		os.Exit(2)
	}
	err := error(nil)
	if *sets {
		err = runSets(*bin, *rounds)
	} else {
		err = run(*bin, flag.Arg(0), *rounds, *charts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(bin, file string, rounds int, charts string) error {
	fmt.Printf("%s\n\n", bench.Machine())
	if err := programs(bin, file, rounds, charts); err != nil {
		return err
	}
	set, err := bench.Lines(filepath.Join(bin, "urls.txt"))
	if err != nil {
		return err
	}
	fmt.Printf("\n%d different URLs of %s, %d bytes on average\n\n", len(set.URLs), filepath.Base(file), set.Bytes/len(set.URLs))
	return libraries(bin, set, rounds, charts)
}

// runSets compares the libraries on each set.
func runSets(bin string, rounds int) error {
	fmt.Printf("%s\n", bench.Machine())
	sets := bench.Generated()
	links, err := bench.Real()
	switch {
	case err != nil:
		return err
	case links == nil:
		fmt.Fprintln(os.Stderr, "peers: URLFOLD_CORPORA is not set: skipping the set of real URLs")
	default:
		sets = append([]*bench.Set{links}, sets...)
	}
	for _, set := range sets {
		fmt.Printf("\n%s: %d URLs, %d bytes on average\n\n", set.Name, len(set.URLs), set.Bytes/len(set.URLs))
		if err := libraries(bin, set, rounds, ""); err != nil {
			return err
		}
	}
	return nil
}

// programs compares whole programs, each reading the file.
func programs(bin, file string, rounds int, charts string) error {
	var present []*job
	for _, j := range jobs(bin, file) {
		if err := j.find(); err != nil {
			fmt.Printf("left out: %s: %v\n", j.name, err)
			continue
		}
		present = append(present, j)
	}
	for n := range rounds {
		fmt.Fprintf(os.Stderr, "programs: round %d of %d\n", n+1, rounds)
		for i := range present {
			if err := present[(i+n)%len(present)].measure(); err != nil {
				return err
			}
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nprogram\twall s\tCPU s\tRSS MB\ttime / rewrite\t\n")
	base := present[slices.IndexFunc(present, func(j *job) bool { return j.name == rewrite })]
	var bars []bar
	for _, j := range present {
		wall := bench.Median(j.wall)
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.0f\t%.2f\t\n", j.name, wall, bench.Median(j.cpu), j.rss, bench.Median(bench.Ratios(j.wall, base.wall)))
		bars = append(bars, bar{j.name, wall, fmt.Sprintf("%.2f s", wall)})
	}
	if err := w.Flush(); err != nil || charts == "" {
		return err
	}
	return writeChart(filepath.Join(charts, "programs.svg"), "Seconds for the whole file", bars)
}
