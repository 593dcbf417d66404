package fault

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestPlan(t *testing.T) {
	f := func(text, points string, want ...error) {
		t.Helper()
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range points {
			if err := p.At("p." + string(c)); !errors.Is(err, want[i]) {
				t.Errorf("%q: hit %d of %q gives %v, want %v", text, i+1, points, err, want[i])
			}
		}
	}
	const full, broken = syscall.ENOSPC, syscall.EIO
	f("", "ab", nil, nil)
	f("p.a=eio", "aba", broken, nil, broken)
	f("p.a=enospc@2", "abaa", nil, nil, full, nil)
	f("p.a=enospc@2..3,p.b=eio@1", "aabaa", nil, full, broken, full, nil)
	f("p.*=enospc@3..", "abcd", nil, nil, full, full)
	f(" p.*=eio@2, p.b=enospc@1..", "bb", full, broken) // both count hits; the first rule that applies wins
	f("q=eio,p.a.b=eio", "a", nil)
	if err := (*Plan)(nil).At("x"); err != nil {
		t.Error(err)
	}
}

func TestDelay(t *testing.T) {
	p, err := Parse("a=delay:20ms")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := p.At("a"); err != nil || time.Since(start) < 20*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestMistakes(t *testing.T) {
	for _, text := range []string{",", "a", "=kill", "a=", "a=sigh", "a=kill@0", "a=kill@x", "a=kill@3..2", "a=kill@1..x", "a=delay:3"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestKill runs its own binary as a process that is killed at a point.
func TestKill(t *testing.T) {
	if os.Getenv("FAULT_TEST_CHILD") != "" {
		p, err := Parse("a=kill@2")
		if err != nil || p.At("a") != nil {
			os.Exit(3)
		}
		_ = p.At("a")
		os.Exit(4)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), "FAULT_TEST_CHILD=1")
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != -1 {
		t.Errorf("the child ended with %v, want a signal", err)
	}
}

// TestEnabled checks that the environment variable has an effect only in builds
// with the tag.
func TestEnabled(t *testing.T) {
	t.Setenv(Env, "x=eio")
	if err := At("x"); (err != nil) != Enabled {
		t.Errorf("built with faults: %v, but a point returns %v", Enabled, err)
	}
}
