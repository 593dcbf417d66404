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

// A Process is a run of the program. Only Output may be called before it was
// started, and only Wait, Output and the counts after it has ended.
type Process struct {
	cmd   *exec.Cmd
	out   tail
	done  chan struct{}
	err   error
	began time.Time
	took  time.Duration
	peak  atomic.Int64 // of resident memory, as it was sampled
}

// Start starts a program with arguments. env is added to the environment of this
// process.
func Start(env []string, name string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.Command(name, args...), done: make(chan struct{}), began: time.Now()} //nolint:noctx // it is to be killed, not canceled
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

// sample notes the highest memory of p while it runs. What the system tells of a process
// that has ended counts the memory of the one that has started it, too.
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

// Pid returns the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal. A process that has ended gets none.
func (p *Process) Signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Kill is kill -9, and waits for the end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// Done is closed when the process has ended.
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

// errSlow is the error of a process that does not end.
var errSlow = errors.New("the process has not ended in time")

// Wait waits for the end, but no longer than d, and returns the exit code: -1 if it
// was killed.
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

// Took returns how long the process, which has ended, has run.
func (p *Process) Took() time.Duration { return p.took }

// Output returns the beginning and the end of what the process has written to stdout
// and stderr.
func (p *Process) Output() string { return p.out.Head() + p.out.String() }

// Descriptors returns how many files the process has open, and how many of them are
// regular files. Linux only.
func (p *Process) Descriptors() (all, regular int, err error) {
	dir := fmt.Sprintf("/proc/%d/fd", p.Pid())
	names, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, n := range names {
		to, err := os.Readlink(filepath.Join(dir, n.Name()))
		if err != nil {
			continue // closed in between
		}
		all++
		if strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/dev/") {
			regular++
		}
	}
	return all, regular, nil
}

// RSS returns the resident memory of the process in bytes, now and at its highest.
// Linux only.
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

// MaxRSS returns the highest resident memory, in bytes, of a process that has ended;
// 0 where that is not known.
func (p *Process) MaxRSS() int64 {
	if peak := p.peak.Load(); peak > 0 {
		return peak
	}
	return maxRSS(p.cmd.ProcessState)
}

var adminAddr = regexp.MustCompile(`msg=listening admin=(\S+)`)

// errSilent is the error of a process that tells no address.
var errSilent = errors.New("the process does not tell where its admin server listens")

// Admin waits until the process tells the address of its admin server.
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

// Get asks the admin server for a page.
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
	req.Close = true // no descriptor of the process is kept busy
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// Metrics are the series of a scrape, by name with labels.
type Metrics map[string]float64

// Scrape reads the metrics of the process.
func (p *Process) Scrape(ctx context.Context) (Metrics, error) {
	status, body, err := p.Get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("/metrics answers %d", status)
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

// Sum returns the sum of all series of a name that have all of these labels, each
// as name="value".
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

// Delivered returns how many records are durable, in the outputs or the dead letters.
func (m Metrics) Delivered() uint64 {
	const name = "urlfold_records_total"
	return uint64(m.Sum(name, `result="emitted"`) + m.Sum(name, `result="dead_lettered"`))
}

// Off returns by how many records the ledger is not balanced.
func (m Metrics) Off() float64 {
	of := func(result string) float64 { return m.Sum("urlfold_records_total", `result="`+result+`"`) }
	return of("read") - of("emitted") - of("dropped") - of("filtered") - of("dead_lettered") - of("abandoned") - m.Sum("urlfold_inflight_records")
}

// A tail keeps the beginning and the end of what is written to it.
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
