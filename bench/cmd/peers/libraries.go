package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urlfold/urlfold/bench"
)

// A column holds the times of one library, in nanoseconds per URL, one value
// per round.
type column struct {
	name string
	pass func() (ns float64, err error)
	ns   []float64
}

// passTime is the minimum time of a library in a round.
const passTime = 300 * time.Millisecond

// libraries compares URL libraries on the URLs of a set, in memory: the
// libraries for Go in this process, and the libraries for Rust in a separate
// process, which makes a pass when asked.
func libraries(bin string, set *bench.Set, rounds int, charts string) error {
	list := filepath.Join(bin, "set.txt")
	if err := os.WriteFile(list, []byte(strings.Join(set.Strings, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	var columns []*column
	for _, p := range bench.Peers() {
		columns = append(columns, &column{name: p.Name, pass: inProcess(p, set)})
	}
	rust, err := startRust(filepath.Join(bin, "rust"), list, len(set.URLs))
	if err != nil {
		fmt.Printf("\nleft out: ada and rust-url: %v\n", err)
	} else {
		defer rust.stop()
		columns = append(columns, &column{name: "ada (C++) parse+href", pass: rust.ada}, &column{name: "rust-url parse+as_str", pass: rust.url})
	}
	for n := range rounds {
		fmt.Fprintf(os.Stderr, "libraries: round %d of %d\n", n+1, rounds)
		for _, c := range columns {
			ns, err := c.pass()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.ns = append(c.ns, ns)
		}
	}
	return writeColumns(columns, charts)
}

// inProcess returns a function that measures one pass of a Go library.
func inProcess(p bench.Peer, s *bench.Set) func() (float64, error) {
	return func() (float64, error) {
		runtime.GC()
		start, passes := time.Now(), 0
		for time.Since(start) < passTime {
			p.Run(s)
			passes++
		}
		return float64(time.Since(start).Nanoseconds()) / float64(passes*len(s.URLs)), nil
	}
}

func writeColumns(columns []*column, charts string) error {
	base := columns[slices.IndexFunc(columns, func(c *column) bool { return c.name == bench.Baseline })]
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "library\tns/URL\tspeed / %s\t\n", bench.Baseline)
	var bars []bar
	for _, c := range columns {
		ns := bench.Median(c.ns)
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t\n", c.name, ns, bench.Median(bench.Ratios(base.ns, c.ns)))
		bars = append(bars, bar{c.name, ns, fmt.Sprintf("%.0f ns", ns)})
	}
	if err := w.Flush(); err != nil || charts == "" {
		return err
	}
	return writeChart(filepath.Join(charts, "libraries.svg"), "Nanoseconds per URL, in memory", bars)
}

// A rustProcess is the program of the folder rust.
type rustProcess struct {
	cmd    *exec.Cmd
	ask    io.WriteCloser
	answer *bufio.Reader
	passes int
	last   float64 // rust-url in the last pass
}

// startRust starts the program for the URLs in the file called list, of which
// there are urls.
func startRust(program, list string, urls int) (*rustProcess, error) {
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("not built; install Rust with cargo")
	}
	p := &rustProcess{cmd: exec.Command(program, list), passes: 1 + int(passTime/time.Microsecond)/urls/2}
	var err error
	if p.ask, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.answer = bufio.NewReader(out)
	return p, p.cmd.Start()
}

// ada makes a pass of both libraries and returns the time of ada.
func (p *rustProcess) ada() (ada float64, err error) {
	if _, err = fmt.Fprintln(p.ask, p.passes); err == nil {
		_, err = fmt.Fscanln(p.answer, &ada, &p.last)
	}
	return ada, err
}

// url returns the time of rust-url in the pass that ada made.
func (p *rustProcess) url() (float64, error) { return p.last, nil }

func (p *rustProcess) stop() {
	p.ask.Close()
	_ = p.cmd.Wait() // it ends when its stdin does
}
