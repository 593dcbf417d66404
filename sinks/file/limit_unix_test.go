//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package file

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urlfold/urlfold/pipeline/engine"
	"golang.org/x/sys/unix"
)

// limited is the variant of a child whose files have a size limit.
const limited = "limited"

// runLimited is the child process. It writes until the system refuses to extend
// the file, checks that nothing after that is answered, raises the limit, and
// writes the rest.
func runLimited(dir string) {
	fail := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
		os.Exit(1)
	}
	signal.Ignore(syscall.SIGXFSZ)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		fail("%v", err)
	}
	tight := was
	tight.Cur = 1000
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &tight); err != nil {
		fail("%v", err)
	}
	out, err := makeLog(config(filepath.Join(dir, "out.log")))
	if err != nil {
		fail("%v", err)
	}
	if err := out.Open(ctx); err != nil {
		fail("%v", err)
	}
	answers := make(chan engine.Result, 20)
	go func() {
		for i := range 20 { // blocks until the limit is raised
			b := &engine.Batch{}
			b.Out.Bytes = []byte(limitedText(i))
			if err := out.Submit(ctx, b, engine.NewTicket(&b.Out, func(r engine.Result) { answers <- r })); err != nil {
				fail("%v", err)
			}
		}
	}()
	for out.Health() == nil {
		<-time.After(time.Millisecond)
	}
	if n := len(answers) * len(limitedText(0)); n > 1000 {
		fail("%d bytes are answered as durable, and there is room for 1000", n)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		fail("%v", err)
	}
	for range 20 {
		if r := <-answers; r.Err != nil || r.Class != engine.OK {
			fail("%+v", r)
		}
	}
	if err := out.Barrier(ctx); err != nil || out.Health() != nil {
		fail("%v, health %v", err, out.Health())
	}
	if err := out.Close(ctx); err != nil {
		fail("%v", err)
	}
}

func limitedText(i int) string { return fmt.Sprintf("%99d\n", i%10) }

// TestNoRoom makes the system itself refuse writes, instead of a fault plan.
func TestNoRoom(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FILE_LOG_CHILD="+dir, "FILE_LOG_VARIANT="+limited)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var want strings.Builder
	for i := range 20 {
		want.WriteString(limitedText(i))
	}
	if got := content(t, filepath.Join(dir, "out.log")); got != want.String() {
		t.Errorf("%d bytes, want %d", len(got), want.Len())
	}
}
