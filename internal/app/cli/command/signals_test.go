package command

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// TestStopper: signals are written as their first letter and their time in
// milliseconds; the result has one letter for each: soft, hard or nothing.
func TestStopper(t *testing.T) {
	for text, want := range map[string]string{
		"T0": "s", "I0": "s",
		"T0 T0": "s-", "I0 I0": "s-", "T0 I1": "s-", "I0 T1": "s-", "T0 T500 I500": "s--", // one signal, to process and group
		"I0 I501": "sh", "T0 I501": "sh", "I0 I100 I501": "s-h", // a second SIGINT
		"T0 T501": "s-", "I0 T501": "s-", "T0 T4999": "s-", // a supervisor that repeats itself
		"T0 T5000": "sh", "I0 T5000": "sh", "T0 T100 T5000": "s-h",
		"T0 T1000 I1200 I1501": "s--h", "T0 T4900 T5200 T5401": "s--h", // several signals in a short time count as the first of them
	} {
		var s stopper
		var got strings.Builder
		for sig := range strings.FieldsSeq(text) {
			var kind byte
			var ms int
			if _, err := fmt.Sscanf(sig, "%c%d", &kind, &ms); err != nil {
				t.Fatal(err)
			}
			got.WriteString(string("-sh"[s.on(map[byte]os.Signal{'T': syscall.SIGTERM, 'I': os.Interrupt}[kind], time.UnixMilli(int64(ms)))]))
		}
		if got.String() != want {
			t.Errorf("%s: %s, want %s", text, got.String(), want)
		}
	}
}

// TestSignalsEndProcess: after a hard stop, a process that does not end by itself
// is ended with exit code 3. One that ends keeps its own code.
func TestSignalsEndProcess(t *testing.T) {
	for _, stuck := range []bool{true, false} {
		bubble.Test(t, func(t *testing.T) {
			s, exited := newSignals(t.Context()), 0
			s.exit = func(code int) { exited = code }
			var called atomic.Bool
			done := make(chan struct{})
			go func() { defer close(done); s.wait() }()
			go s.OnSecond(func() { called.Store(true) })
			s.ch <- os.Interrupt
			time.Sleep(time.Second)
			if s.Soft.Err() == nil || called.Load() {
				t.Error("the first signal is no soft stop")
			}
			s.ch <- os.Interrupt
			time.Sleep(time.Second)
			if !called.Load() {
				t.Error("the second signal is no hard stop")
			}
			if !stuck {
				s.Stop()
			}
			<-done
			if stuck != (exited == ExitCut) || !stuck && exited != 0 {
				t.Errorf("stuck %v: exit code %d", stuck, exited)
			}
			if stuck {
				s.Stop()
			}
		})
	}
}
