package cputime

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Of returns how long do keeps a processor busy. Unlike the time on a
// clock, it does not depend on what else the machine does. The work of other
// goroutines, such as the garbage collector, is not part of it.
func Of(t testing.TB, do func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	do()
	return used() - before
}
