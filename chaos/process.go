package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Process is a run of the program. Once the run has ended, only Wait, Took,
// Output, MaxRSS and similar methods may be used.
type Process struct {
	cmd   *exec.Cmd
	out   tail
	done  chan struct{}
	err   error
	began time.Time
	took  time.Duration
	peak  atomic.Int64 // highest sampled resident memory
}

// Start starts a program with arguments. env is added to the environment of the
// current process.
func Start(env []string, name string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.Command(name, args...), done: make(chan struct{}), began: time.Now()} //nolint:noctx // the process is killed, not canceled
	p.cmd.Stderr, p.cmd.Stdout = &p.out, &p.out
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.sample()
	go func() {
		p.err = p.cmd.Wait()
		p.took = time.Since(p.began)
		close(p.done)
	}()
	return p, nil
}

// sample records the peak memory of p while it runs. The figure that the system
// reports after the end cannot be used: it includes the memory of the parent
// process.
func (p *Process) sample() {
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		if _, peak, err := p.RSS(); err == nil && peak > 0 {
			p.peak.Store(peak)
		}
		select {
		case <-p.done:
			return
		case <-t.C:
		}
	}
}

// Pid returns the process ID.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal. It does nothing if the process has ended.
func (p *Process) Signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Kill sends SIGKILL and waits until the process has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails if the process has ended
	<-p.done
}

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// errSlow is returned for a process that does not end.
var errSlow = errors.New("the process has not ended in time")

// Wait waits at most d for the process to end and returns the exit code, or -1
// if it was killed.
func (p *Process) Wait(ctx context.Context, d time.Duration) (code int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d, errSlow)
	defer cancel()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// Took returns how long the process ran. The process must have ended.
func (p *Process) Took() time.Duration { return p.took }

// Output returns the beginning and the end of the output on stdout and stderr.
func (p *Process) Output() string { return p.out.Head() + p.out.String() }

// Descriptors returns the number of open files of the process, and the number
// of regular files among them. It works only on Linux.
func (p *Process) Descriptors() (all, regular int, err error) {
	dir := fmt.Sprintf("/proc/%d/fd", p.Pid())
	names, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, n := range names {
		to, err := os.Readlink(filepath.Join(dir, n.Name()))
		if err != nil {
			continue // closed since ReadDir
		}
		all++
		if strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/dev/") {
			regular++
		}
	}
	return all, regular, nil
}

// RSS returns the current and the peak resident memory of the process in bytes.
// It works only on Linux.
func (p *Process) RSS() (now, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		var to *int64
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "VmRSS":
			to = &now
		case "VmHWM":
			to = &peak
		default:
			continue
		}
		fields := strings.Fields(line)
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return 0, 0, err
		}
		*to = kib << 10
	}
	return now, peak, nil
}

// MaxRSS returns the peak resident memory in bytes of a process that has ended,
// or 0 if it is unknown.
func (p *Process) MaxRSS() int64 {
	if peak := p.peak.Load(); peak > 0 {
		return peak
	}
	return maxRSS(p.cmd.ProcessState)
}

var adminAddr = regexp.MustCompile(`msg=listening admin=(\S+)`)

// errSilent is returned for a process that does not log the address of its
// admin server.
var errSilent = errors.New("the process does not log the address of its admin server")

// Admin waits until the process logs the address of its admin server, and
// returns it.
func (p *Process) Admin(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errSilent)
	defer cancel()
	for {
		if m := adminAddr.FindStringSubmatch(p.out.Head()); m != nil {
			return m[1], nil
		}
		select {
		case <-p.done:
			return "", fmt.Errorf("the process has ended: %s", p.Output())
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Get requests a page from the admin server.
func (p *Process) Get(ctx context.Context, path string) (status int, body []byte, err error) {
	addr, err := p.Admin(ctx)
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Close = true // keep no connection, and so no descriptor of the process, open
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // opened only for reading
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// Metrics holds the series of a scrape, by name with labels.
type Metrics map[string]float64

// Scrape reads the metrics of the process.
func (p *Process) Scrape(ctx context.Context) (Metrics, error) {
	status, body, err := p.Get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("/metrics returned status %d", status)
	}
	m := Metrics{}
	for line := range strings.Lines(string(body)) {
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
		if err != nil {
			return nil, err
		}
		m[line[:i]] = v
	}
	return m, nil
}

// Sum returns the sum of all series with the given name that have all of the
// labels, each of the form name="value".
func (m Metrics) Sum(name string, labels ...string) (sum float64) {
series:
	for s, v := range m {
		rest, ok := strings.CutPrefix(s, name)
		if !ok || rest != "" && rest[0] != '{' {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(rest, l) {
				continue series
			}
		}
		sum += v
	}
	return sum
}

// Delivered returns the number of durable records, in outputs and dead letters.
func (m Metrics) Delivered() uint64 {
	const name = "urlfold_records_total"
	return uint64(m.Sum(name, `result="emitted"`) + m.Sum(name, `result="dead-lettered"`))
}

// Off returns the number of records by which the ledger is unbalanced.
func (m Metrics) Off() float64 {
	of := func(result string) float64 { return m.Sum("urlfold_records_total", `result="`+result+`"`) }
	return m.Sum("urlfold_source_records_total") - of("emitted") - of("dropped") - of("filtered") - of("duplicates") - of("dead-lettered") - of("abandoned") - m.Sum("urlfold_inflight_records")
}

// A tail stores the beginning and the end of what is written to it.
type tail struct {
	mu         sync.Mutex
	head, last []byte
}

const (
	headBytes = 8 << 10
	tailBytes = 64 << 10
)

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(p), headBytes-len(t.head))
	t.head = append(t.head, p[:n]...)
	t.last = append(t.last, p[n:]...)
	if drop := len(t.last) - tailBytes; drop > 0 {
		t.last = t.last[:copy(t.last, t.last[drop:])]
	}
	return len(p), nil
}

// Head returns the beginning.
func (t *tail) Head() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.head)
}

// String returns the end.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}
