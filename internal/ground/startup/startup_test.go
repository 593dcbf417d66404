package startup

import (
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// TestBegin checks that GOGC is larger until some time after Begin.
func TestBegin(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("skipped: GOGC is set; run without it")
	}
	set := func(p int) int { return debug.SetGCPercent(p) }
	if p := set(startGOGC); p != startGOGC {
		t.Fatalf("GOGC is %d at the start, want %d", p, startGOGC)
	}
	Begin()
	for end := time.Now().Add(time.Minute); set(startGOGC) != defaultGOGC; time.Sleep(2 * duration) {
		if time.Now().After(end) {
			t.Fatalf("GOGC is not %d a minute after Begin", defaultGOGC)
		}
	}
	set(defaultGOGC)
}

// TestEnvironment checks that a GOGC of the environment stays as it is.
func TestEnvironment(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	if p := delay(); p != 25 {
		t.Errorf("delay returns %d, want 25", p)
	}
	if p := debug.SetGCPercent(25); p != 25 {
		t.Errorf("GOGC is %d, want 25", p)
	}
}

// TestSetGOGC checks that the end of the start keeps the GOGC of a command.
func TestSetGOGC(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("skipped: GOGC is set; run without it")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(startGOGC))
	defer now.Store(now.Load())
	SetGOGC(50)
	for range 2 {
		if p := debug.SetGCPercent(50); p != 50 {
			t.Fatalf("GOGC is %d, want 50", p)
		}
		end()
	}
}
