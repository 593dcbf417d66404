//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// deduping is tailing with dedupe.
const deduping = tailing + "dedupe: {by: equivalent}\n"

// TestRunDedupe: duplicates are dropped across commits, kills and reloads of the
// rules; another set of keys, state reset and dedupe reset let them pass again; a
// missing file of the set is an error that says what to do.
func TestRunDedupe(t *testing.T) {
	config := strings.Replace(deduping, "path: out.log", "path: out.log, exactly_once: true", 1)
	d := newRun(t, config)
	d.start()
	d.feed("http://h/a\nHTTP://H/a\nhttp://h/b\nno key\nno key\n")
	want := "http://h/a\nhttp://h/b\nno key\nno key\n"
	d.has("out.log", want)
	d.measures(`urlfold_records_total{component="in",result="duplicates"} 1`)
	d.measures(`urlfold_dedupe_records_total{result="first"} 2`)
	d.measures(`urlfold_dedupe_records_total{result="no_key"} 2`)
	d.measures(`urlfold_dedupe_keys 2`)
	d.signal(syscall.SIGKILL)
	d.wait()

	d.start()
	d.feed("http://h/b\nhttp://h/c\nhttp://h/a\n")
	want += "http://h/c\n"
	d.has("out.log", want)

	d.configure(strings.Replace(config, "{by: equivalent}", "{by: syntax, on_change: refuse}", 1))
	d.signal(syscall.SIGHUP)
	d.logs("configuration rejected", 1)
	d.configure(strings.Replace(config, "{by: equivalent}", "{by: syntax}", 1))
	d.signal(syscall.SIGHUP)
	d.logs("set of keys reset, because the configuration has changed", 1)
	d.logs("configuration reloaded", 1)
	d.feed("http://h/a\nhttp://h/a\n")
	want += "http://h/a\n"
	d.has("out.log", want)
	d.measures(`urlfold_dedupe_resets_total 1`)
	d.signal(syscall.SIGTERM)
	d.wait()

	for _, text := range []string{"set of keys emptied\n", "no set of keys is stored\n"} {
		if code, out := d.run("daemon", "reset", "--dedupe-only", "-c", "c.yaml"); code != 0 || out != text {
			t.Errorf("dedupe reset: %d, %q, want %q", code, out, text)
		}
	}
	d.start()
	d.feed("http://h/a\n")
	want += "http://h/a\n"
	d.has("out.log", want)
	d.measures(`urlfold_dedupe_keys 1`)
	d.signal(syscall.SIGTERM)
	d.wait()

	files, err := filepath.Glob(filepath.Join(d.dir, "state/keys/*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	if code, out := d.run("run", "-c", "c.yaml"); code != 1 || !strings.Contains(out, "set of keys is incomplete") || !strings.Contains(out, "urlfold daemon reset --dedupe-only") {
		t.Errorf("without a file of the set: %d, %s", code, out)
	}
}

// TestRunDedupeWindow: the times in the records decide, across kills, which
// duplicates are dropped, which records are late, and when keys disappear.
func TestRunDedupeWindow(t *testing.T) {
	config := strings.NewReplacer("from: lines", "from: combined, base: http://h", "path: out.log", "path: out.log, exactly_once: true", "{by: equivalent}", "{by: equivalent, window: {size: 1h, lateness: 10m}}").Replace(deduping)
	d := newRun(t, config)
	line := func(clock, page string) string {
		return `192.0.2.7 - - [10/Oct/2000:` + clock + ` +0200] "GET ` + page + ` HTTP/1.1" 200 1 "-" "-"` + "\n"
	}
	want := ""
	feed := func(text string, keeps ...string) {
		d.feed(text)
		want += strings.Join(keeps, "")
		d.has("out.log", want)
	}
	kill := func() {
		d.signal(syscall.SIGKILL)
		d.wait()
		d.start()
	}
	a, b := line("10:00:00", "/a"), line("10:10:00", "/b")
	d.start()
	feed(a+line("10:00:01", "/a")+line("10:00:02", "/a")+b, a, b)
	kill()
	next := line("11:00:00", "/a")
	feed(line("10:59:59", "/b")+next+line("10:30:00", "/b")+line("11:01:00", "/a")+line("11:09:59", "/b"), next, line("11:09:59", "/b"))
	d.measures(`urlfold_dedupe_keys 4`)
	far := line("23:00:00", "/c")
	noTime := strings.Replace(line("11:09:59", "/a"), "Oct", "???", 1)
	feed(far+noTime+line("10:31:00", "/a")+line("11:10:00", "/a"), far, noTime)
	d.measures(`urlfold_dedupe_records_total{result="ahead"} 1`)
	d.measures(`urlfold_dedupe_records_total{result="no_time"} 1`)
	d.measures(`urlfold_dedupe_records_total{result="late"} 0`)
	d.measures(`urlfold_dedupe_keys 2`)
	kill()
	late := line("10:32:00", "/a")
	feed(late+late+line("11:20:00", "/a")+line("11:20:00", "/b"), late, late)
	d.measures(`urlfold_dedupe_records_total{result="late"} 2`)
	d.configure(strings.Replace(config, "lateness: 10m", "lateness: 1h", 1))
	d.signal(syscall.SIGHUP)
	d.logs("configuration reloaded", 1)
	feed(late+late+line("11:21:00", "/b"), late) // no longer late, and the first one since its window was forgotten
	d.signal(syscall.SIGTERM)
	d.wait()
}

// run runs a command to its end, in the folder of d. It returns the exit code and
// the output.
func (d *daemonRun) run(args ...string) (int, string) {
	d.t.Helper()
	cmd := exec.Command("urlfold", args...)
	cmd.Dir = d.dir
	out, err := cmd.CombinedOutput()
	return code(d.t, err), string(out)
}

// TestDedupeResetElsewhere: dedupe reset says where the keys are that are not in
// the data directory.
func TestDedupeResetElsewhere(t *testing.T) {
	const kafka = `version: 1
data_dir: state
sources:
  - kafka: {from: lines, brokers: ["127.0.0.1:1"], topics: [t], group: g}
dedupe: {scope: lane, changelog: {topic: keys}}
sinks:
  - file: {path: out.log}
`
	d := newRun(t, kafka)
	if code, out := d.run("daemon", "reset", "--dedupe-only", "-c", "c.yaml"); code == 0 || !strings.Contains(out, "c.yaml:5:42: topic: the keys are in the topic keys: stop all instances") {
		t.Errorf("%d, %q", code, out)
	}
}

// TestDedupeMemory: the dedupe keys, and those that wait for a commit, are part of
// memory_limit.
func TestDedupeMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: 700,000 keys; run without -short")
	}
	const limit = 96 << 10
	d := newRun(t, deduping+"memory_limit: 96MiB\n")
	var in strings.Builder
	for i := range 700_000 {
		fmt.Fprintf(&in, "http://h/%d\n", i)
	}
	d.feed(in.String())
	d.start()
	d.until("all records", func() bool { return d.length("out.log") == int64(in.Len()) })
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		t.Skip("skipped: only Linux tells the peak of the memory of a process that runs")
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:") // the peak in rusage includes the process before exec
	var kib int
	if _, err := fmt.Sscan(peak, &kib); err != nil || kib > limit {
		t.Errorf("it took %d KiB, want at most %d: %v", kib, limit, err)
	}
	d.signal(syscall.SIGTERM)
	if code := d.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
