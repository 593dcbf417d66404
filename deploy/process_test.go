package deploy

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit"
)

// binary is the program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "urlfold-deploy-")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		binary = filepath.Join(dir, "urlfold")
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../cmd/urlfold").CombinedOutput(); err != nil {
			panic(string(out))
		}
		return m.Run()
	}())
}

// command returns a run of the program whose environment is env, and nothing
// else of the environment of the tests except PATH.
func command(args []string, env ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}, env...)
	return cmd
}

// run runs the program to its end.
func run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	out, err := command(args, env...).CombinedOutput()
	if err != nil {
		t.Fatalf("urlfold %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A process is the daemon while it runs.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  testkit.Log
	done chan struct{}
	err  error // once done is closed
	addr string
}

var listening = regexp.MustCompile(`msg=listening admin=(\S+)`)

// start starts a configuration, and waits until the admin server listens. The
// process ends with the test.
func start(t *testing.T, config string, env ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: command([]string{"run", "-c", config}, append(env, "URLFOLD_ADMIN=127.0.0.1:0")...), done: make(chan struct{})}
	p.cmd.Stderr = &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.done
		if t.Failed() {
			t.Logf("the log of %s:\n%s", config, p.log.String())
		}
	})
	p.until("the admin server listens", func() bool {
		m := listening.FindStringSubmatch(p.log.String())
		if m != nil {
			p.addr = m[1]
		}
		return m != nil
	})
	return p
}

// until waits until ok, and fails the test if the process ends before, or if it
// takes longer than a minute.
func (p *process) until(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); {
		select {
		case <-p.done:
			if ok() {
				return
			}
			p.t.Fatalf("the process has ended (%v) before: %s", p.err, what)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(end) {
			p.t.Fatalf("waited a minute for: %s", what)
		}
	}
}

// get returns a page of the admin server.
func (p *process) get(path string) (code int, body string) {
	p.t.Helper()
	res, err := http.Get("http://" + p.addr + path)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err := cmp.Or(err, res.Body.Close()); err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// untilReady waits until the process says that it is ready.
func (p *process) untilReady() {
	p.t.Helper()
	p.until("it is ready", func() bool {
		code, _ := p.get("/readyz")
		return code == http.StatusOK
	})
}

// stop asks the process to end, and returns its exit code.
func (p *process) stop() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	return p.wait()
}

// wait returns the exit code of the process.
func (p *process) wait() int {
	p.t.Helper()
	p.until("it ends", func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	})
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) {
		p.t.Fatal(p.err)
	}
	return p.cmd.ProcessState.ExitCode()
}
