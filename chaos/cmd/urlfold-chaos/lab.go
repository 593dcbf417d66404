package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/urlfold/urlfold/chaos"
)

// An experiment injects a fault and checks that no record is lost.
type experiment struct {
	name  string
	no    string // number in the list of faults
	about string
	bound string // conditions that must hold
	long  bool   // omitted from short runs
	aside bool   // needs little CPU: a full run runs it in parallel to the others
	run   func(ctx context.Context, l *lab) error
}

// A lab is the environment of an experiment, and collects its results.
type lab struct {
	tools
	dir   string // folder of the experiment
	seed  uint64
	short bool
	bytes int64 // size of large inputs; 0: the experiment's default
	kills int   // number of kills; 0: the experiment's default
	rng   *rand.Rand

	report report
	procs  []*chaos.Process
}

// A report is the result of an experiment.
type report struct {
	Name    string   `json:"name"`
	No      string   `json:"no"`
	Seed    uint64   `json:"seed"`
	Short   bool     `json:"short"`
	Done    []string `json:"done"`
	Figures []figure `json:"figures"`
	Bound   string   `json:"bound"`
	Pass    bool     `json:"pass"`
	Skipped string   `json:"skipped,omitempty"` // why the experiment cannot run on this machine
	Wrong   []string `json:"wrong,omitempty"`
	Seconds float64  `json:"seconds"`
}

// A figure is a named number or text.
type figure struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// write prints the report.
func (r *report) write(w io.Writer) {
	verdict := "FAIL"
	switch {
	case r.Skipped != "":
		verdict = "SKIP"
	case r.Pass:
		verdict = "PASS"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s (no. %s, seed %d, %.1f s)\n", verdict, r.Name, r.No, r.Seed, r.Seconds)
	if r.Skipped != "" {
		fmt.Fprintf(&b, "      skipped: %s\n", r.Skipped)
	}
	for _, d := range r.Done {
		fmt.Fprintf(&b, "      done:    %s\n", d)
	}
	for _, f := range r.Figures {
		fmt.Fprintf(&b, "      figure:  %s: %v\n", f.Name, f.Value)
	}
	fmt.Fprintf(&b, "      bound:   %s\n", r.Bound)
	for _, p := range r.Wrong {
		fmt.Fprintf(&b, "      WRONG:   %s\n", strings.ReplaceAll(p, "\n", "\n               "))
	}
	_, _ = io.WriteString(w, b.String()) // an error could not be reported anywhere
}

// did records a step that was done.
func (l *lab) did(format string, args ...any) {
	l.report.Done = append(l.report.Done, fmt.Sprintf(format, args...))
}

// figure records a measurement.
func (l *lab) figure(name string, value any) {
	if d, ok := value.(time.Duration); ok {
		value = d.Round(time.Millisecond).String()
	}
	l.report.Figures = append(l.report.Figures, figure{name, value})
}

// maxWrong is the maximum number of failures reported for an experiment.
const maxWrong = 20

// check records a failure unless ok is true. It returns ok.
func (l *lab) check(ok bool, format string, args ...any) bool {
	if !ok && len(l.report.Wrong) < maxWrong {
		l.report.Wrong = append(l.report.Wrong, fmt.Sprintf(format, args...))
	}
	return ok
}

// A skipError is the reason why an experiment cannot run on this machine.
type skipError string

// Error implements error.
func (e skipError) Error() string { return string(e) }

// size returns the size of a large input in bytes.
func (l *lab) size(short, full int64) int64 {
	switch {
	case l.bytes > 0:
		return l.bytes
	case l.short:
		return short
	}
	return full
}

// times returns the number of repetitions.
func (l *lab) times(short, full int) int {
	if l.short {
		return short
	}
	return full
}

// path returns a path in the folder of the experiment.
func (l *lab) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

// between returns a random duration between lo and hi.
func (l *lab) between(lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return lo + time.Duration(l.rng.Int64N(int64(hi-lo)))
}

// pause waits for d or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// start starts the program with args.
func (l *lab) start(ctx context.Context, env []string, args ...string) (*chaos.Process, error) {
	bin, err := l.program(ctx)
	if err != nil {
		return nil, err
	}
	return l.startBin(env, bin, args...)
}

func (l *lab) startBin(env []string, bin string, args ...string) (*chaos.Process, error) {
	p, err := chaos.Start(env, bin, args...)
	if err == nil {
		l.procs = append(l.procs, p)
	}
	return p, err
}

// finish runs the program until it ends and requires the exit code want.
func (l *lab) finish(ctx context.Context, want int, args ...string) (*chaos.Process, error) {
	p, err := l.start(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	return p, l.ends(ctx, p, want)
}

// ends waits for p to exit. It returns an error if p does not exit or exits
// with another code than want, because later checks would be meaningless.
func (l *lab) ends(ctx context.Context, p *chaos.Process, want int) error {
	code, err := p.Wait(ctx, endTimeout)
	if err == nil && code != want {
		err = fmt.Errorf("exit code %d, want %d", code, want)
	}
	if err != nil {
		return fmt.Errorf("%w; its last output:\n%s", err, lastLines(p.Output(), 12))
	}
	return nil
}

const endTimeout = 10 * time.Minute

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// conduct runs an experiment and returns its report.
func (e *experiment) conduct(ctx context.Context, l *lab) report {
	h := fnv.New64a()
	_, _ = io.WriteString(h, e.name) // never fails
	l.rng = rand.New(rand.NewPCG(l.seed, h.Sum64()))
	l.report = report{Name: e.name, No: e.no, Seed: l.seed, Short: l.short, Bound: e.bound}
	began := time.Now()
	err := os.MkdirAll(l.dir, 0o755)
	if err == nil {
		err = e.run(ctx, l)
	}
	for _, p := range l.procs {
		p.Kill()
	}
	if skip, ok := err.(skipError); ok {
		l.report.Skipped = string(skip)
	} else if err != nil {
		l.check(false, "%v", err)
	}
	l.report.Seconds = time.Since(began).Seconds()
	l.report.Pass = len(l.report.Wrong) == 0 && l.report.Skipped == ""
	return l.report
}

// tools builds programs, each at most once.
type tools struct{ shared *shared }

type shared struct {
	mu   sync.Mutex
	root string // root folder of the main module
	bin  string // folder of the built programs
	made map[string]string
}

// newTools returns tools that build programs in dir.
func newTools(ctx context.Context, dir string) (tools, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/urlfold/urlfold").Output()
	if err != nil {
		return tools{}, fmt.Errorf("urlfold-chaos must run in the folder chaos of the repository: %w", err)
	}
	t := tools{&shared{root: strings.TrimSpace(string(out)), bin: dir, made: map[string]string{}}}
	if inside := os.Getenv(insideEnv); inside != "" {
		t.shared.made[""] = programIn(inside, "")
	}
	return t, nil
}

// program returns the path of the program.
func (t tools) program(ctx context.Context) (string, error) { return t.build(ctx, "") }

// faulty returns the path of the program with fault points.
func (t tools) faulty(ctx context.Context) (string, error) { return t.build(ctx, "faults") }

// programIn returns the path of the program built with the given tags.
func programIn(dir, tags string) string { return filepath.Join(dir, "urlfold-"+tags) }

func (t tools) build(ctx context.Context, tags string) (string, error) {
	s := t.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if path := s.made[tags]; path != "" {
		return path, nil
	}
	path := programIn(s.bin, tags)
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", path, "./cmd/urlfold")
	cmd.Dir = s.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(out))
	}
	s.made[tags] = path
	return path, nil
}

// tell writes a report as text or as JSON.
func tell(w io.Writer, r *report, asJSON bool) error {
	if !asJSON {
		r.write(w)
		return nil
	}
	return json.NewEncoder(w).Encode(r)
}
