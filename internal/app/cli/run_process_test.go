//go:build unix

package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// The tests of this file run urlfold run as a process, and send it signals.

// A daemonRun is a run of a configuration in a folder of the test.
type daemonRun struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	log  *testkit.Log
	done chan struct{}
	err  error // once done is closed

	stdin, stdout *os.File // of the process; nil: /dev/null
}

// tailing is a configuration that reads lines from in.log for ever.
const tailing = `version: 1
data_dir: state
admin: {listen: "127.0.0.1:0"}
sources:
  - file: {from: lines, name: in, include: ["in.log"], poll_interval: 10ms}
codec: {profile: equiv}
sinks:
  - file: {name: out, path: out.log}
commit_interval: 10ms
`

// noFragment is other rules than those of tailing.
const noFragment = "equiv, rules: {add: [frag-drop]}"

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// feed appends lines to in.log.
func (d *daemonRun) feed(text string) {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(d.dir, "in.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = io.WriteString(f, text)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		d.t.Fatal(err, closeErr)
	}
}

// configure writes the configuration.
func (d *daemonRun) configure(text string) {
	d.t.Helper()
	write(d.t, filepath.Join(d.dir, "c.yaml"), text)
}

// newRun prepares a run in a folder of its own.
func newRun(t *testing.T, config string) *daemonRun {
	t.Helper()
	d := &daemonRun{t: t, dir: t.TempDir()}
	d.configure(config)
	return d
}

// start starts the process. It ends with the test at the latest.
func (d *daemonRun) start(flags ...string) {
	d.t.Helper()
	d.cmd = exec.Command("urlfold", append([]string{"run", "-c", "c.yaml"}, flags...)...)
	d.log, d.done = new(testkit.Log), make(chan struct{})
	d.cmd.Dir, d.cmd.Stderr = d.dir, d.log
	if d.stdin != nil {
		d.cmd.Stdin = d.stdin
	}
	if d.stdout != nil {
		d.cmd.Stdout = d.stdout
	}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	cmd, log, done := d.cmd, d.log, d.done
	go func() {
		d.err = cmd.Wait()
		close(done)
	}()
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-done
		if d.t.Failed() {
			d.t.Logf("the log:\n%s", log)
		}
	})
}

func (d *daemonRun) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// interrupt sends SIGINT until the process ends. The first ones may count as part
// of another signal.
func (d *daemonRun) interrupt() {
	d.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); ; {
		select {
		case <-d.done:
			return
		case <-tick.C:
			_ = d.cmd.Process.Signal(os.Interrupt) // it may have ended
		case <-end:
			d.t.Fatal("still running")
		}
	}
}

// wait waits for the end of the process, and returns its exit code.
func (d *daemonRun) wait() int {
	d.t.Helper()
	select {
	case <-d.done:
	case <-time.After(patience):
		d.t.Fatal("the process does not end")
	}
	return code(d.t, d.err)
}

// until waits until ok, and fails if the process ends before.
func (d *daemonRun) until(what string, ok func() bool) {
	d.t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		select {
		case <-d.done:
			if ok() {
				return
			}
			d.t.Fatalf("the process has ended (%v) before: %s", d.err, what)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(end) {
			d.t.Fatalf("waited too long for: %s", what)
		}
	}
}

// logs waits until a text was logged n times.
func (d *daemonRun) logs(text string, n int) {
	d.t.Helper()
	d.until(fmt.Sprintf("%q in the log, %d times", text, n), func() bool { return strings.Count(d.log.String(), text) >= n })
}

// has waits until the text of a file is this.
func (d *daemonRun) has(name, want string) {
	d.t.Helper()
	d.until(fmt.Sprintf("%q in %s", want, name), func() bool {
		got, err := os.ReadFile(filepath.Join(d.dir, name))
		return err == nil && string(got) == want
	})
}

var listening = regexp.MustCompile(`msg=listening admin=(\S+)`)

// page returns the status and the text of a page of the admin server.
func (d *daemonRun) page(path string) (status int, text string) {
	d.t.Helper()
	d.logs("msg=listening", 1)
	m := listening.FindStringSubmatch(d.log.String())
	res, err := http.Get("http://" + m[1] + path)
	if err != nil {
		d.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if closeErr := res.Body.Close(); err != nil || closeErr != nil {
		d.t.Fatal(err, closeErr)
	}
	return res.StatusCode, string(body)
}

// metrics returns the page of metrics.
func (d *daemonRun) metrics() string {
	d.t.Helper()
	_, text := d.page("/metrics")
	return text
}

// measures waits for a line on the page of metrics.
func (d *daemonRun) measures(line string) {
	d.t.Helper()
	d.until(line, func() bool { return strings.Contains(d.metrics(), "\n"+line+"\n") })
}

// A configuration is read again on SIGHUP: other rules are in force at once, other
// sinks when what was read is durable, and a mistake changes nothing.
func TestRunReload(t *testing.T) {
	d := newRun(t, tailing)
	d.feed("HTTP://H/#a\n")
	d.start()
	d.has("out.log", "http://h/#a\n")

	d.configure(strings.Replace(tailing, "equiv", noFragment, 1))
	d.signal(syscall.SIGHUP)
	d.logs("effect=rules", 1)
	d.feed("HTTP://H/#b\n")
	d.has("out.log", "http://h/#a\nhttp://h/\n")

	d.configure(strings.Replace(tailing, "equiv", "equib", 1))
	d.signal(syscall.SIGHUP)
	d.logs("configuration rejected", 1)
	if !strings.Contains(d.log.String(), `c.yaml:6:18: profile: unknown profile \"equib\" (did you mean \"equiv\"?)`) {
		t.Error("the log lacks the position of the error")
	}
	d.measures("urlfold_config_last_reload_successful 0")
	d.feed("HTTP://H/#c\n")
	d.has("out.log", "http://h/#a\nhttp://h/\nhttp://h/\n")

	d.configure(strings.Replace(tailing, "data_dir: state", "data_dir: other", 1))
	d.signal(syscall.SIGHUP)
	d.logs("changing these settings requires a restart: data_dir", 1)

	d.configure(strings.Replace(tailing, "out.log}\n", "out.log}\n  - file: {path: more.log}\n", 1))
	d.signal(syscall.SIGHUP)
	d.logs("msg=starting", 2)
	d.feed("HTTP://H/#d\n")
	d.has("out.log", "http://h/#a\nhttp://h/\nhttp://h/\nhttp://h/#d\n")
	d.has("more.log", "http://h/#d\n")
	for _, want := range []string{
		"urlfold_config_last_reload_successful 1", `urlfold_source_records_total{component="in"} 4`,
		`urlfold_sink_records_total{component="out"} 4`, `urlfold_sink_records_total{component="file-sink-1"} 1`,
	} {
		d.measures(want)
	}
	d.signal(syscall.SIGTERM)
	if got := d.wait(); got != command.ExitDone {
		t.Errorf("exit code %d", got)
	}
	d.start("--until-eof")
	if got := d.wait(); got != command.ExitDone || !strings.Contains(d.log.String(), "read=0") {
		t.Errorf("the next run: exit code %d", got)
	}
}

// If the sink of a new configuration cannot be opened, the last
// configuration continues. If possible, this is detected before the last
// pipeline is stopped.
func TestRunReloadBack(t *testing.T) {
	d := newRun(t, tailing)
	d.start()
	d.feed("HTTP://H/a\n")
	d.has("out.log", "http://h/a\n")
	d.configure(strings.Replace(tailing, "path: out.log", "path: c.yaml/out.log", 1))
	d.signal(syscall.SIGHUP)
	d.logs("configuration rejected, keeping the previous one", 1)
	if err := os.Symlink("nowhere", filepath.Join(d.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	d.configure(strings.Replace(tailing, "path: out.log", "path: gone/out.log", 1))
	d.signal(syscall.SIGHUP)
	d.logs("new configuration failed to start, restoring the previous one", 1)
	d.feed("HTTP://H/b\n")
	d.has("out.log", "http://h/a\nhttp://h/b\n")
	d.signal(syscall.SIGTERM)
	if got := d.wait(); got != command.ExitDone {
		t.Errorf("exit code %d", got)
	}
}

// A file that was damaged at some time is no reason to fail when a signal ends the run:
// exit code 4 says that a run has come to the end of its input, with the damage in it,
// whichever run has found that.
func TestRunDamagedThenSignal(t *testing.T) {
	d := newRun(t, strings.Replace(tailing, `["in.log"]`, `["in.log", "*.gz"], damage_after: 10ms, rotate_wait: 10ms`, 1))
	write(t, filepath.Join(d.dir, "cut.gz"), "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb")
	d.start()
	d.feed("HTTP://H/a\n")
	d.has("out.log", "http://h/a\n")
	d.logs("verdict=truncated", 1)
	d.signal(syscall.SIGTERM)
	if got := d.wait(); got != command.ExitDone {
		t.Errorf("exit code %d", got)
	}
	d.start("--until-eof")
	if got := d.wait(); got != command.ExitFailOn || !strings.Contains(d.log.String(), "read=0") {
		t.Errorf("the input ends: exit code %d", got)
	}
	if err := os.Remove(filepath.Join(d.dir, "cut.gz")); err != nil {
		t.Fatal(err)
	}
	d.start("--until-eof")
	if got := d.wait(); got != command.ExitDone {
		t.Errorf("the damaged file is gone: exit code %d", got)
	}
}

// A run that is killed after it has finished a damaged file, and before its end, leaves
// the verdict to the next one.
func TestRunDamagedThenKilled(t *testing.T) {
	config := strings.Replace(tailing, `["in.log"]`, `["cut.gz", "in.log"], mode: batch, max_readers: 1, rotate_wait: 10ms`, 1)
	d := newRun(t, strings.Replace(config, "commit_interval:", "  - discard: {delay: 1h}\ncommit_interval:", 1))
	d.feed("HTTP://H/a\n")
	write(t, filepath.Join(d.dir, "cut.gz"), "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb")
	d.start()
	d.logs("verdict=truncated", 1)
	d.signal(syscall.SIGKILL)
	<-d.done
	d.configure(config)
	d.start()
	if got := d.wait(); got != command.ExitFailOn || !strings.Contains(d.log.String(), "file known to be damaged") {
		t.Errorf("exit code %d", got)
	}
}

// With --watch a change of the file, or of a profile that it names, has the
// effect of a signal.
func TestRunWatch(t *testing.T) {
	d := newRun(t, tailing)
	d.start("--watch")
	d.feed("HTTP://H/#a\n")
	d.has("out.log", "http://h/#a\n")
	d.configure(strings.Replace(tailing, "equiv", noFragment, 1))
	d.logs("effect=rules", 1)
	d.feed("HTTP://H/#b\n")
	d.has("out.log", "http://h/#a\nhttp://h/\n")
	profile := filepath.Join(d.dir, "own.yaml")
	write(t, profile, "name: own\nbase: equiv\n")
	d.configure(strings.Replace(tailing, "equiv", "own.yaml", 1))
	d.logs("effect=rules", 2)
	write(t, profile, "name: own\nbase: equiv\nrules: {add: [frag-drop]}\n")
	d.logs("effect=rules", 3)
	d.feed("HTTP://H/#c\n")
	d.has("out.log", "http://h/#a\nhttp://h/\nhttp://h/\n")
	d.signal(syscall.SIGINT)
	if got := d.wait(); got != command.ExitDone {
		t.Errorf("exit code %d", got)
	}
}

// Signals come up to the last instruction, when everything is durable:
// nothing is cut or read again, and no signal changes the exit code.
func TestRunManySignals(t *testing.T) {
	d := newRun(t, tailing)
	d.feed("HTTP://H/a\n")
	d.start()
	d.measures(`urlfold_sink_records_total{component="out"} 1`)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for d.cmd.Process.Signal(syscall.SIGTERM) == nil {
			_ = d.cmd.Process.Signal(syscall.SIGHUP) // it may have ended
			time.Sleep(100 * time.Microsecond)
		}
	}()
	if got := d.wait(); got != command.ExitDone {
		t.Errorf("exit code %d", got)
	}
	<-ended
	d.start("--until-eof")
	if got := d.wait(); got != command.ExitDone {
		t.Errorf("the next run: exit code %d", got)
	}
	d.has("out.log", "http://h/a\n")
}

// Signals while configurations are changed, in any order: the process ends with 0,
// and all lines are in the output once.
func TestRunSignalsDuringReload(t *testing.T) {
	d := newRun(t, tailing)
	var want strings.Builder
	for i := range 8 {
		sinks := strings.Repeat(fmt.Sprintf("  - discard: {name: d%d}\n", i), i%2)
		d.configure(strings.Replace(tailing, "commit_interval:", sinks+"commit_interval:", 1))
		d.start()
		d.feed(fmt.Sprintf("HTTP://H/%d\n", i))
		_, _ = fmt.Fprintf(&want, "http://h/%d\n", i) // never fails
		d.logs("msg=listening", 1)
		d.signal(syscall.SIGHUP) // usually, there is no pipeline yet
		d.has("out.log", want.String())
		d.configure(strings.Replace(tailing, "commit_interval:", strings.Repeat("  - discard: {name: e}\n", 1-i%2)+"commit_interval:", 1))
		d.signal(syscall.SIGHUP)
		time.Sleep(time.Duration(i) * 2 * time.Millisecond)
		d.signal(syscall.SIGTERM)
		if got := d.wait(); got != command.ExitDone {
			t.Fatalf("round %d: exit code %d", i, got)
		}
	}
	d.has("out.log", want.String())
}

// Signals to the process and to its group, as timeout sends them, and a SIGINT with
// a SIGTERM, are one signal: everything that was read is written, and the next run
// writes none of it again.
func TestRunSignalsAsOne(t *testing.T) {
	const lines = 300000
	var text, want strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "HTTP://H/%d\n", i)
		fmt.Fprintf(&want, "http://h/%d\n", i)
	}
	d := newRun(t, strings.Replace(tailing, "commit_interval: 10ms", "commit_interval: 10ms\norder: lane", 1))
	d.feed(text.String())
	for _, second := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, 0} {
		if second == 0 {
			d.start("--until-eof")
		} else {
			d.start()
			d.measures("urlfold_ready 1")
			d.signal(syscall.SIGTERM)
			d.signal(second)
			d.signal(syscall.SIGTERM)
		}
		if got := d.wait(); got != command.ExitDone {
			t.Fatalf("%v: exit code %d", second, got)
		}
	}
	d.has("out.log", want.String())
}

// What a sink does not take in time is given up: at the deadline, or at a second
// signal. The exit code is 3, the log says how much, and the next run reads it again.
func TestRunCut(t *testing.T) {
	server := natstest.Start(t, nil)
	conn, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for signals, timeout := range map[int]string{1: "2s", 2: "10m"} {
		d := newRun(t, strings.Replace(tailing, "commit_interval:", fmt.Sprintf("  - jetstream: {servers: [%q], subject: s}\nshutdown_timeout: %s\ncommit_interval:", server.URL(), timeout), 1))
		d.feed("HTTP://H/a\n")
		d.start()
		d.measures(`urlfold_sink_records_total{component="jetstream-sink-1"} 1`)
		d.measures(`urlfold_sink_records_total{component="out"} 1`)
		server.Down()
		d.feed("HTTP://H/b\nHTTP://H/c\n")
		d.has("out.log", "http://h/a\nhttp://h/b\nhttp://h/c\n")
		d.signal(syscall.SIGTERM)
		if signals == 2 {
			d.measures(`urlfold_state{state="draining"} 1`) // draining
			d.interrupt()
		}
		if got := d.wait(); got != command.ExitCut {
			t.Errorf("%d signals: exit code %d, want %d", signals, got, command.ExitCut)
		}
		reason := map[int]string{1: "shutdown deadline exceeded", 2: "stopped by a second signal"}[signals]
		if !regexp.MustCompile(reason + `: \d+ batches \(2 records\) not yet durable; they will be re-read on restart`).MatchString(d.log.String()) {
			t.Errorf("%d signals: the log lacks %q, or the number of records to read again", signals, reason)
		}
		server.Up()
		d.start("--until-eof")
		if got := d.wait(); got != command.ExitDone {
			t.Errorf("%d signals: the next run: exit code %d", signals, got)
		}
		text, err := os.ReadFile(filepath.Join(d.dir, "out.log"))
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		slices.Sort(lines)
		if lines = slices.Compact(lines); err != nil || !slices.Equal(lines, []string{"http://h/a", "http://h/b", "http://h/c"}) {
			t.Errorf("%d signals: %q, %v", signals, text, err)
		}
	}
}

// validate --connect tells what is there and could be better.
func TestValidateConnect(t *testing.T) {
	server := natstest.Start(t, nil)
	conn, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, AckWait: 2 * time.Second, MaxDeliver: -1}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "c.yaml")
	write(t, name, fmt.Sprintf(`version: 1
sources:
  - jetstream: {from: lines, servers: [%q], stream: S, durable: d, consumer: {ack_wait: 2s}}
sinks:
  - discard: {}
`, server.URL()))
	cmd, stderr := program(t, "check", "-c", name, "--connect")
	out, err := cmd.Output()
	if got := code(t, err); got != command.ExitDone || !strings.Contains(string(out), "configuration is valid") {
		t.Errorf("exit code %d, stdout %q", got, out)
	}
	if !strings.Contains(stderr.String(), "urlfold: warning: "+name+":3:16: ") || !strings.Contains(stderr.String(), "ack_wait is 2s") ||
		!strings.Contains(stderr.String(), "sync_interval") {
		t.Errorf("stderr: %s", stderr)
	}
}
