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

	"github.com/urlfold/urlfold/internal/testkit/chaos"
)

// An experiment does something bad, and looks whether it did harm.
type experiment struct {
	name  string
	no    string // in the list of faults
	about string
	bound string // what must hold
	long  bool   // left out of the short form
	aside bool   // needs no computing: in full it runs beside the others
	run   func(ctx context.Context, l *lab) error
}

// A lab is where an experiment takes place, and what it finds out.
type lab struct {
	tools
	dir   string // its own
	seed  uint64
	short bool
	bytes int64 // of a large input; 0: as the experiment has it
	rng   *rand.Rand

	report report
	procs  []*chaos.Process
}

// A report is what is told of an experiment.
type report struct {
	Name    string   `json:"name"`
	No      string   `json:"no"`
	Seed    uint64   `json:"seed"`
	Short   bool     `json:"short"`
	Done    []string `json:"done"`
	Figures []figure `json:"figures"`
	Bound   string   `json:"bound"`
	Pass    bool     `json:"pass"`
	Skipped string   `json:"skipped,omitempty"` // why it could not be done here
	Wrong   []string `json:"wrong,omitempty"`
	Seconds float64  `json:"seconds"`
}

// A figure is a name and a number, or a text.
type figure struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// write tells the report.
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
	_, _ = io.WriteString(w, b.String()) // there is nobody else to tell
}

// did notes what was done.
func (l *lab) did(format string, args ...any) {
	l.report.Done = append(l.report.Done, fmt.Sprintf(format, args...))
}

// figure notes what was measured.
func (l *lab) figure(name string, value any) {
	if d, ok := value.(time.Duration); ok {
		value = d.Round(time.Millisecond).String()
	}
	l.report.Figures = append(l.report.Figures, figure{name, value})
}

// maxWrong bounds what is told of one experiment.
const maxWrong = 20

// check notes that something is wrong unless ok.
func (l *lab) check(ok bool, format string, args ...any) bool {
	if !ok && len(l.report.Wrong) < maxWrong {
		l.report.Wrong = append(l.report.Wrong, fmt.Sprintf(format, args...))
	}
	return ok
}

// skipError says that an experiment cannot be done on this machine.
type skipError string

// Error implements error.
func (e skipError) Error() string { return string(e) }

// size returns the size of a large input.
func (l *lab) size(short, full int64) int64 {
	switch {
	case l.bytes > 0:
		return l.bytes
	case l.short:
		return short
	}
	return full
}

// times returns how often something is done.
func (l *lab) times(short, full int) int {
	if l.short {
		return short
	}
	return full
}

// path returns a path in the folder of the lab.
func (l *lab) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

// between returns a random duration.
func (l *lab) between(lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return lo + time.Duration(l.rng.Int64N(int64(hi-lo)))
}

// pause waits.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// start starts the program.
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

// finish runs the program to its end, which has to come with that code.
func (l *lab) finish(ctx context.Context, want int, args ...string) (*chaos.Process, error) {
	p, err := l.start(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	return p, l.ends(ctx, p, want)
}

// ends waits for the end of p. Without one, or with another code, nothing that comes
// later would mean anything: that is an error.
func (l *lab) ends(ctx context.Context, p *chaos.Process, want int) error {
	code, err := p.Wait(ctx, endTimeout)
	if err == nil && code != want {
		err = fmt.Errorf("exit code %d, want %d", code, want)
	}
	if err != nil {
		return fmt.Errorf("%w; it has said:\n%s", err, lastLines(p.Output(), 12))
	}
	return nil
}

const endTimeout = 10 * time.Minute

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// conduct runs an experiment.
func (e *experiment) conduct(ctx context.Context, l *lab) report {
	h := fnv.New64a()
	_, _ = io.WriteString(h, e.name) // a hash takes everything
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

// tools builds programs, each once.
type tools struct{ shared *shared }

type shared struct {
	mu   sync.Mutex
	root string // of the module
	bin  string // folder of programs
	made map[string]string
}

// newTools returns tools that build into dir.
func newTools(ctx context.Context, dir string) (tools, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return tools{}, fmt.Errorf("it runs inside of the module only: %w", err)
	}
	t := tools{&shared{root: strings.TrimSpace(string(out)), bin: dir, made: map[string]string{}}}
	if inside := os.Getenv(insideEnv); inside != "" {
		t.shared.made[""] = programIn(inside, "")
	}
	return t, nil
}

// program returns the program.
func (t tools) program(ctx context.Context) (string, error) { return t.build(ctx, "") }

// faulty returns the program with its points of faults.
func (t tools) faulty(ctx context.Context) (string, error) { return t.build(ctx, "faults") }

// programIn returns the path of the program with these tags.
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

// tell writes a report, for people or for programs.
func tell(w io.Writer, r *report, asJSON bool) error {
	if !asJSON {
		r.write(w)
		return nil
	}
	return json.NewEncoder(w).Encode(r)
}
