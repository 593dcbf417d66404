package endtoend

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// patience is how long a test waits for an event, or for the next step towards it.
// It is long because the machine may be slow; no test draws conclusions from
// durations.
const patience = 2 * time.Minute

// few returns the number of repetitions: short or, with URLFOLD_LONG=1, long.
func few(short, long int) int {
	if os.Getenv("URLFOLD_LONG") == "1" {
		return long
	}
	return short
}

// binary is the program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "urlfold-endtoend-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		binary = filepath.Join(dir, "urlfold")
		build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "./cmd/urlfold")
		build.Dir = "../.." // the main module
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		go watchMemory()
		return kafkatest.Main(m, os.Stderr)
	}())
}

// start starts the program with a configuration. The process is killed at the
// end of the test, which fails as soon as the process ends with an error.
func start(t *testing.T, config string) *chaos.Process {
	t.Helper()
	path := filepath.Join(t.TempDir(), "urlfold.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := chaos.Start(nil, binary, "run", "-c", path)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-p.Done()
		if code, err := p.Wait(context.Background(), patience); err != nil || code > 0 {
			t.Errorf("a process has ended with exit code %d, %v", code, err)
		}
	}()
	t.Cleanup(func() {
		p.Kill()
		<-ended
		if t.Failed() {
			t.Logf("the process wrote:\n%s", p.Output())
		}
	})
	return p
}

// stop stops a process with SIGTERM and requires exit code 0. It first waits
// for the admin server, because a signal that arrives before the program
// handles signals would kill it.
func stop(t *testing.T, p *chaos.Process) {
	t.Helper()
	if _, err := p.Admin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	code, err := p.Wait(context.Background(), patience)
	if err != nil || code != 0 {
		t.Fatalf("exit code %d, %v", code, err)
	}
}

// until waits until f returns true, for as long as patience. Use advance if many
// steps lead to that.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	advance(t, what, nil, f)
}

// advance waits until f returns true. It fails if progress returns no new maximum for
// as long as patience, so a slow machine may take any time. If progress is nil, it
// fails after patience.
func advance(t *testing.T, what string, progress func() int64, f func() bool) {
	t.Helper()
	began := time.Now()
	moved, highest := began, int64(math.MinInt64)
	for ; !f(); time.Sleep(5 * time.Millisecond) {
		if t.Failed() {
			t.FailNow() // a process has ended
		}
		if progress != nil {
			if n := progress(); n > highest {
				moved, highest = time.Now(), n
			}
		}
		if time.Since(moved) < patience {
			continue
		}
		if progress == nil {
			t.Fatalf("timeout: %s", what)
		}
		t.Fatalf("timeout: %s: after %v, nothing has moved for %v, with the progress at %d", what, time.Since(began).Round(time.Second), patience, highest)
	}
}

// churn lets three instances work under load while members are killed, added
// and stopped, and returns those that are left. Before each
// change, fill adds input, of which more than enough records are stored then.
func churn(t *testing.T, config string, changes int, fill func(), stored func() int64, enough int64) []*chaos.Process {
	t.Helper()
	var members []*chaos.Process
	for range 3 {
		members = append(members, start(t, config))
	}
	for i := range changes {
		before := stored()
		fill()
		advance(t, "they work", stored, func() bool { return stored() > before+enough })
		k := rand.IntN(len(members))
		switch i % 3 {
		case 0:
			members[k].Kill()
			members[k] = start(t, config)
		case 1:
			members = append(members, start(t, config))
		case 2:
			stop(t, members[k])
			members = slices.Delete(members, k, k+1)
		}
	}
	return members
}
