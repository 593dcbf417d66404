package startup

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// gogc returns the GOGC of the process.
func gogc() int {
	p := debug.SetGCPercent(defaultGOGC)
	debug.SetGCPercent(p)
	return p
}

// until waits until GOGC is want.
func until(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); gogc() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("GOGC is %d, want %d", gogc(), want)
		}
	}
}

// TestDelay checks that GOGC is larger until the end of the first collection.
func TestDelay(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(defaultGOGC))
	if !delay() || gogc() != startGOGC {
		t.Fatalf("GOGC is %d at the start, want %d", gogc(), startGOGC)
	}
	runtime.GC()
	until(t, defaultGOGC)
}

// TestEnvironment checks that a GOGC of the environment stays as it is.
func TestEnvironment(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	if delay() || gogc() != 25 {
		t.Errorf("GOGC is %d, want 25", gogc())
	}
}

// TestSetGOGC checks that the GOGC of a command stays after the first collection.
func TestSetGOGC(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("skipped: GOGC is set; run without it")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(defaultGOGC))
	if !delay() {
		t.Fatal("GOGC is not the default")
	}
	SetGOGC(50)
	if gogc() != 50 {
		t.Fatalf("GOGC is %d, want 50", gogc())
	}
	debug.SetGCPercent(startGOGC)
	runtime.GC()
	until(t, 50)
}
