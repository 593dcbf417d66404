package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// The tests of this file run every command on a pseudoterminal.

// openTerminal returns both ends of a terminal that changes no byte.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudoterminals: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err == nil {
		_, err = term.MakeRaw(int(program.Fd()))
	}
	if err != nil {
		t.Fatal(err)
	}
	return screen, program
}

// A shown is what a command shows on a terminal.
type shown struct{ out, err string }

// A terminalRun runs commands in a folder.
type terminalRun struct {
	dir   string
	env   []string
	stdin io.Reader
}

// The environments: with colors, and without.
var (
	colored    = []string{"TERM=xterm-256color"}
	colorless  = []string{"TERM=xterm-256color", "NO_COLOR=1"}
	dumbScreen = []string{"TERM=dumb"}
)

// run runs a command whose stdout and stderr are terminals. It interrupts the
// command as soon as it has shown until, unless that is empty.
func (r terminalRun) run(t *testing.T, until string, args ...string) shown {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "urlfold", args...)
	cmd.Dir, cmd.Stdin = r.dir, r.stdin
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "LANG=C.UTF-8", "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), "GORACE=" + os.Getenv("GORACE")}, r.env...)
	var ends [2]chan string
	var begin sync.WaitGroup // until the process exists
	begin.Add(1)
	for i, stream := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		screen, program := openTerminal(t)
		*stream = program
		defer func() { _ = program.Close() }()
		ends[i] = make(chan string, 1)
		go func() {
			begin.Wait()
			var text bytes.Buffer
			buf := make([]byte, 4096)
			for err := error(nil); err == nil; { // EIO when the program has ended
				var n int
				n, err = screen.Read(buf)
				text.Write(buf[:n])
				if until != "" && bytes.Contains(text.Bytes(), []byte(until)) {
					_ = cmd.Process.Signal(os.Interrupt)
				}
			}
			ends[i] <- text.String()
		}()
	}
	err := cmd.Start()
	begin.Done()
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []io.Writer{cmd.Stdout, cmd.Stderr} {
		_ = stream.(*os.File).Close() // the child has its own
	}
	_ = cmd.Wait() // some commands fail, and their messages are checked, too
	return shown{<-ends[0], <-ends[1]}
}

// paint matches the codes with which the program colors text.
var paint = regexp.MustCompile(`\x1b\[(0|1|2|31|32|33|36)m`)

// evil has what a hostile URL or file name may contain.
var evil = func() (text string) {
	for _, bad := range []string{
		"\x1b[31m", "\x1b[2J", "\x1b]0;title\a", "\b", "\r", "\x7f", "\u009b31m", "\x9b31m", "\u202e", "\u2066", "\u200f", "\u2028", "\u2029",
		"\U000e0041", "\U000e007f",
	} {
		text += "EVIL" + bad
	}
	return text
}()

// unsafeIn returns the first thing in text that must not reach a terminal.
func unsafeIn(text string, color bool) string {
	if raw := "EVIL\x1b[31mEVIL"; strings.Contains(text, raw) {
		return raw
	}
	if color {
		text = paint.ReplaceAllString(text, "")
	}
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case r == utf8.RuneError && text[i] >= 0xa0: // no terminal treats such a byte as a control
		case r == utf8.RuneError && text[i] != 0xef, unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control), r>>7 == 0xe0000>>7:
			return text[max(0, i-20):min(len(text), i+20)]
		}
	}
	return ""
}

// hostile fills a folder with files for the commands of hostileCommands. Bad is
// the name of one of them.
func hostile(t *testing.T, dir string) (bad string) {
	t.Helper()
	bad = "bad" + evil + ".log"
	line := fmt.Sprintf("1.2.3.4 - - [01/Jan/2026:00:00:00 +0000] %q 200 5 \"http://r.example/\" \"%s\"\n", "GET /x HTTP/1.1", evil)
	for name, text := range map[string]string{
		"log": line + line, bad: "http://a.b/" + evil + "\nhttp://a.b/%zz#" + evil + "\n", "cut.gz": "\x1f\x8b\x08\x00garbage",
		"bad" + evil + ".gz": "\x1f\x8b\x08\x00garbage",
		"urls":               "http://u:p@a.b/" + evil + "\nhttp://A.b/%1b%5b31m?" + evil + "=1\nhttp://[" + evil + "\n",
		"twice":              "http://a.b/" + evil + "\nhttp://a.b/" + evil + "#x\n",
		"jsonl":              `{"url":"http://a.b/` + "\u202e\u2028\U000e0041" + `"}` + "\n",
		"cdx":                " CDX N b a m s k r M S V g\ncom,bad)/" + evil + " 20260101000000 http://a.b/" + evil + " text/html 200 X - - 1 1 x.warc.gz\n",
		"empty.yaml":         "version: 1\ndata_dir: state\nadmin: {listen: \"\"}\nsources:\n  - file: {from: lines, include: [\"bad*.log\", log], mode: batch}\nsinks:\n  - stdout: {}\n",
		"bad.yaml":           "version: 1\nnonsense" + "\u202e" + ": 1\ncodec: {profile: \"EVIL\\e[31m\\u2028\"}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Skipf("the file system does not take such names: %v", err)
		}
	}
	return bad
}

// hostileCommands returns a command line for every command, with hostile input
// if the command takes any.
func hostileCommands(bad string) [][]string {
	with := func(args ...string) []string { return args }
	url := "http://a.b/" + evil + "%zz"
	return [][]string{
		with("log"), with("urls"), with(bad), with(bad + "none"), with("cut.gz"), with("bad" + evil + ".gz"), with("--no" + evil), with("-p", evil, "urls"), with(bad, "-o", "out"+evil),
		with("log", "-r", "tsv", "--fields", "url,agent"), with("log", "-r", "csv", "--fields", "url,agent"), with("log", "-r", "jsonl", "--fields", "url,agent,record"),
		with("urls", "--dead-letter", "/dev/stderr"), with("jsonl", "--url-field", "url"), with("--lock-step"), with("--lock-step", "-r", "jsonl", "--fields", "url"),
		with("check", "--integrity", bad, "cut.gz", "bad"+evil+".gz"), with("check", bad, "log"), with("check", "--to", "jsonl", bad), with("check", "--keys", "-f", "cdx", "cdx"),
		with("top", "--by", "agent", "log"), with("top", "-r", "tsv", "--by", "url", "urls"), with("top", "-r", "jsonl", "--by", "agent", "log"), with("top", "--by", evil, "log"),
		with("count", "log"), with("learn", "urls"), with("report", "log", bad), with("report", "--to", "json", bad),
		with("collisions", "urls", bad), with("collisions", "--all", "-k", "page", "twice"), with("diff", "--against", "crawler", "urls", bad), with("diff", "--against", "crawler", "--to", "json", "urls"),
		with("seen", "build", "--force", "set"+evil, "urls"), with("seen", "query", "--seen", "-r", "urls", "set"+evil, bad), with("seen", "merge", "set"+evil, bad),
		with("seen", "info", "set"+evil), with("seen", "shrink", "set"+evil), with("seen"),
		with("explain", url), with("explain", "--to", "jsonl", url), with("explain", "--vs", url+"x", url), with("explain", "--compare", "all", url),
		with("encode", evil), with("encode", "--component", evil), with("decode", "EVIL%1b[31m%9b%e2%80%ae%f3%a0%81%81%0d%7f"), with("decode", "--strict", url), with("encode", "--chart"), with("encode", "--chart", "--standard", evil),
		with("version"), with("init", "--schema"), with("init", evil, "--from", evil, "-o", evil), with("completion", "bash"), with("completion", evil),
		with("help"), with("help", "first-log"), with("help", evil), with("help", "--man", "man"+evil), with("help", "--man", "log"), with("report", "--merge", bad),
		with("check", "-c", "empty.yaml"), with("check", "-c", "empty.yaml", "--connect", "--show"), with("check", "-c", "bad.yaml"), with("check", "-c", bad), with("check", "-c", "empty.yaml"),
		with("run", "-c", "empty.yaml", "--dry-run"), with("run", "-c", "empty.yaml"), with("run", "-c", bad),
		with("daemon", "state", "-c", "empty.yaml"), with("daemon", "state", "--to", "json", "-c", "empty.yaml"), with("daemon", "reset", "-c", "empty.yaml", evil), with("daemon", "reset", "--dedupe-only", "-c", "empty.yaml"),
		with("daemon", "enqueue", "-c", "empty.yaml", "s3://b/"+evil), with("daemon", "enqueue", "-c", "bad.yaml", evil),
		with("daemon", "monitor", "--admin", "unix:none"+evil), with("daemon", "tap", "--admin", "unix:none"+evil),
	}
}

// TestTerminalCommands checks that hostileCommands has every command.
func TestTerminalCommands(t *testing.T) {
	lines := hostileCommands("log")
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		if cmd.Runnable() && !slices.ContainsFunc(lines, func(line []string) bool {
			return len(line) >= len(path) && slices.Equal(line[:len(path)], path)
		}) && (len(path) < 2 || path[0] != "completion") {
			t.Errorf("no command line for %q", path)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRootCmd(testCatalog(t)))
}

// TestHostileTerminal checks that no command lets hostile text control a
// terminal.
func TestHostileTerminal(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{colored, colorless} {
		dir := t.TempDir()
		bad := hostile(t, dir)
		for _, args := range hostileCommands(bad) {
			r := terminalRun{dir: dir, env: env, stdin: strings.NewReader("http://a.b/" + evil + "\nhttp://[" + evil + "\n")}
			got := r.run(t, "", args...)
			if got.out+got.err == "" && !slices.Contains(args, "--man") && args[0] != "encode" {
				t.Errorf("%v %q shows nothing", env, args)
			}
			color := &env[0] == &colored[0]
			for _, text := range []string{got.out, got.err} {
				if where := unsafeIn(text, color); where != "" {
					t.Errorf("%v %q shows %q", env, args, where)
				}
			}
		}
	}
}

// TestTerminalReport checks that report shows no HTML.
func TestTerminalReport(t *testing.T) {
	t.Parallel()
	r := terminalRun{dir: t.TempDir(), env: colored, stdin: strings.NewReader("http://a.b/\n")}
	if got := r.run(t, "", "report", "-f", "lines"); !strings.HasPrefix(got.out, "# ") {
		t.Errorf("%q", got.out[:min(len(got.out), 300)])
	}
}

// TestTerminalColors checks that commands paint their output with colors where
// the terminal has them, and otherwise show the same text without.
func TestTerminalColors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var urls strings.Builder
	for i := range 80 {
		fmt.Fprintf(&urls, "http://a.b/x?sid=%d\nHTTP://a.b/%d/../y\nhttp://a.b/%d/../y?utm_source=%d\n", i, i, i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "urls"), []byte(urls.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"top", "urls"}, {"count", "urls"}, {"learn", "urls"}, {"top", "-r", "table", "--by", "site", "urls"}, {"explain", "HTTP://a.b:80/%zz"},
		{"explain", "--vs", "http://a.b/", "HTTP://a.b/"}, {"collisions", "-k", "page", "urls"}, {"diff", "-p", "equiv", "--against", "analytics", "urls"},
		{"help", "first-log"}, {"help", "formats"},
	} {
		show := func(env []string) string { return terminalRun{dir: dir, env: env}.run(t, "", args...).out }
		got := show(colored)
		if !paint.MatchString(got) || strings.Contains(got, `\x1b`) || unsafeIn(got, true) != "" {
			t.Errorf("%q: %q", args, got[:min(len(got), 300)])
		}
		if args[0] == "help" { // without colors, its text contains other marks
			continue
		}
		want := paint.ReplaceAllString(got, "")
		for _, env := range [][]string{colorless, dumbScreen} {
			if got := show(env); got != want {
				t.Errorf("%v %q shows another text than with colors:\n%s\nwant\n%s", env, args, got, want)
			}
		}
	}
	summary := terminalRun{dir: dir, env: colored}.run(t, "", "urls", "-o", "out").err
	if !paint.MatchString(summary) || strings.Contains(summary, `\x1b`) {
		t.Errorf("summary: %q", summary)
	}
}

// TestTerminalProgress checks that the progress line writes no control character
// but the carriage return.
func TestTerminalProgress(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{colored, dumbScreen} {
		in, more, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := more.WriteString("http://a.b/x\n"); err != nil {
			t.Fatal(err)
		}
		got := terminalRun{dir: t.TempDir(), env: env, stdin: in}.run(t, "records/s, 0s elapsed", "-", "-o", "out").err
		if err := errors.Join(in.Close(), more.Close()); err != nil {
			t.Fatal(err)
		}
		if where := unsafeIn(strings.ReplaceAll(got, "\r", ""), &env[0] == &colored[0]); where != "" || !strings.Contains(got, "\r") {
			t.Errorf("%v shows %q: %q", env, where, got)
		}
	}
}

// TestTerminalDaemon checks tap and monitor, which need a daemon.
func TestTerminalDaemon(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "u") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	log := filepath.Join(dir, "in"+evil)
	appendLine := func() {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString("http://A.b/" + evil + "\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	appendLine()
	config := "version: 1\ndata_dir: state\nadmin: {listen: \"unix:" + dir + "/sock\", tap: true}\nsources:\n  - file: {from: lines, include: [\"in*\"], poll_interval: 20ms}\nsinks:\n  - discard: {}\n"
	if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon, stderr := program(t, "run", "-c", "c.yaml")
	daemon.Dir = dir
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = daemon.Process.Signal(os.Interrupt)
		if err := daemon.Wait(); err != nil {
			t.Errorf("%v: %s", err, stderr)
		}
	}()
	for _, err := os.Stat(dir + "/sock"); err != nil; _, err = os.Stat(dir + "/sock") {
		if t.Context().Err() != nil || t.Failed() {
			t.Fatal("no socket")
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, env := range [][]string{colored, colorless} {
		r, color := terminalRun{dir: dir, env: env}, &env[0] == &colored[0]
		for _, args := range [][]string{{"daemon", "tap", "-n", "1"}, {"daemon", "tap", "--to", "jsonl", "-n", "1"}, {"daemon", "monitor", "--once", "--interval", "200ms"}, {"daemon", "monitor", "--to", "jsonl", "--once", "--interval", "200ms"}, {"daemon", "monitor", "--interval", "200ms"}} {
			done := make(chan shown, 1)
			until := ""
			if args[len(args)-1] == "200ms" && len(args) == 4 {
				until = "mean latency"
			}
			go func() { done <- r.run(t, until, append(args, "-c", "c.yaml")...) }()
			var got shown
			for waiting := true; waiting; {
				select {
				case got = <-done:
					waiting = false
				case <-time.After(50 * time.Millisecond): // tap shows only what comes after it has begun
					appendLine()
				}
			}
			text := got.out
			if until != "" {
				text = strings.NewReplacer("\x1b[H", "", "\x1b[K", "", "\x1b[J", "").Replace(text) // these move the cursor for a screen that is drawn again
			}
			if text == "" || color && !slices.Contains(args, "--to") && !paint.MatchString(text) {
				t.Errorf("%v %q shows %q, %s", env, args, text, got.err)
			}
			if where := unsafeIn(text+got.err, color); where != "" {
				t.Errorf("%v %q shows %q", env, args, where)
			}
		}
	}
}

// TestWidths checks that what commands print for people fits the screen, and
// that no word is broken.
func TestWidths(t *testing.T) {
	dir := t.TempDir()
	list := "http://h/?a=%zz\nhttp://h/%\nhttp://h/%41\nHTTP://H:80/a/../b\nhttp://h/\\x\nhttp://u:p@h/\nhttp://h//\nhttp://h/%00\nhttp://h/%FF\nhttp://h/a b\nhttp://h/?utm_source=x\nhttp://h/?\n"
	if err := os.WriteFile(filepath.Join(dir, "urls.txt"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cut.gz"), []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x09\x00\xf6\xffhttp://h/"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"urls.txt", "-o", "out", "--force"}, {"check", "urls.txt"}, {"collisions", "-k", "page", "urls.txt"}, {"top", "urls.txt"}, {"--help"}, {"top", "--help"},
		{"-k", "k9", "--by", "x", "--to", "nothing", "--fail-on", "what", "urls.txt"}, {"count", "--quiet", "cut.gz"}} {
		words := map[int]string{}
		for _, width := range []int{80, 120} {
			r := terminalRun{dir: dir, env: append(slices.Clone(colorless), fmt.Sprintf("COLUMNS=%d", width))}
			got := r.run(t, "", args...)
			for line := range strings.SplitSeq(got.out+got.err, "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%v: %d columns instead of %d: %s", args, n, width, line)
				}
			}
			words[width] = timing.ReplaceAllString(strings.Join(strings.Fields(got.out+got.err), " "), "")
			if len(args) == 4 && args[1] == "-o" && !strings.Contains(got.err, ` more; "urlfold top --by flag"`) {
				t.Errorf("the summary shows all flags:\n%s", got.err)
			}
		}
		if words[80] != words[120] || words[80] == "" {
			t.Errorf("%v: other words:\n%s\n%s", args, words[80], words[120])
		}
	}
}

// timing matches durations and rates.
var timing = regexp.MustCompile(`,? ?[0-9.,]+(µs|ms|s)\b|,? [0-9.,]+ ([KMG]i)?B/s|,? [0-9.,]+ records/s`)
