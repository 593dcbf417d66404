package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A fence is a fenced block of a page: what its opening line says, and its lines.
//
// Blocks of commands are "```console", in which a line that begins with "$ " is a
// command and the lines after it are what it prints, and "```sh", which holds
// commands only. A block of any language that names a file, as in
// "```yaml file=clean.yaml", is written to that file. "needs=NAME" says what a
// command needs besides urlfold: one that names a program is run where that is
// installed, any other (a broker, a network, minutes) is listed as not run.
type fence struct {
	page  string
	line  int // of the first line inside the block, from 1
	lang  string
	attrs map[string]string
	lines []string
}

// A step is a command of a page, and the output that the page shows.
type step struct {
	command string
	shown   []string
	first   int // line of shown in the page, from 1
}

// more is a line that matches any number of lines of output.
const more = "…"

// developerPages are the pages whose commands are not run, because they take
// minutes or need a network. TestDocsNames checks what they name.
var developerPages = []string{"CONTRIBUTING.md", "bench/README.md", "testdata/vectors/README.md"}

// docPages returns the pages whose commands are run and whose links are checked.
func docPages(t *testing.T) []string {
	t.Helper()
	pages := append([]string{"README.md"}, developerPages...)
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			path, err = filepath.Rel(root, path)
			pages = append(pages, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	return pages
}

// readPage returns the lines of a page.
func readPage(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// fences returns the fenced blocks of a page.
func fences(page string, lines []string) (all []fence) {
	var f *fence
	for i, line := range lines {
		info, mark := strings.CutPrefix(line, "```")
		switch {
		case mark && f == nil:
			f = &fence{page: page, line: i + 2, attrs: map[string]string{}}
			for k, word := range strings.Fields(info) {
				name, value, _ := strings.Cut(word, "=")
				if k == 0 {
					f.lang = word
				} else {
					f.attrs[name] = value
				}
			}
		case mark:
			all = append(all, *f)
			f = nil
		case f != nil:
			f.lines = append(f.lines, line)
		}
	}
	return all
}

// steps returns the commands of a block.
func (f *fence) steps() (all []step) {
	if f.lang == "sh" {
		return []step{{command: strings.Join(f.lines, "\n")}}
	}
	for i := 0; i < len(f.lines); i++ {
		line := f.lines[i]
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			if len(all) > 0 {
				all[len(all)-1].shown = append(all[len(all)-1].shown, line)
			}
			continue
		}
		for strings.HasSuffix(command, `\`) && i+1 < len(f.lines) {
			i++
			command += "\n" + f.lines[i]
		}
		all = append(all, step{command: command, first: f.line + i + 1})
	}
	return all
}

// runs reports whether the commands of a block can be run here.
func (f *fence) runs() bool {
	need, ok := f.attrs["needs"]
	if !ok {
		return true
	}
	_, err := exec.LookPath(need)
	return err == nil && !slices.Contains([]string{"kafka", "nats", "network", "root", "minutes"}, need)
}

// What differs from run to run, and its name in comparisons.
var volatile = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"<time>", regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`)},
	{"<address>", regexp.MustCompile(`127\.0\.0\.1:\d+`)},
	{"<rate>", regexp.MustCompile(`[\d,.]+( [kKMG]i?B| B| records| URLs)/s`)},
	{"<duration>", regexp.MustCompile(`\b(\d+m)?\d+(\.\d+)? ?(ns|µs|ms|s)\b`)},
	{"<version>", regexp.MustCompile(`\b(urlfold (v?\d\S*|\(devel\))|go1\.\d+(\.\d+)?)`)},
	{"", regexp.MustCompile(`(, <rate>)+`)}, // absent where a run takes no time
}

// named returns a line with names in place of what differs from run to run.
func named(line string) string {
	for _, v := range volatile {
		line = v.pattern.ReplaceAllString(line, v.name)
	}
	return strings.TrimRight(line, " ")
}

// sameLines reports whether output is what a page shows.
func sameLines(shown, got []string) bool {
	if len(shown) == 0 {
		return len(got) == 0
	}
	if shown[0] == more {
		for i := range len(got) + 1 {
			if sameLines(shown[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && named(shown[0]) == named(got[0]) && sameLines(shown[1:], got[1:])
}

// A session is a reader at work on one page: a folder with what the repository
// ships for the examples, and a shell.
type session struct {
	t       *testing.T
	dir     string
	address string // instead of 127.0.0.1:8686
	goPath  string // of this test, whose home is not that of the reader
	goCache string
}

func newSession(t *testing.T) *session {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, dir: t.TempDir(), address: freeAddress(t)}
	for _, dir := range []string{"testdata/sample", "testdata/profiles", "deploy/examples", "deploy/try"} {
		if err := os.CopyFS(filepath.Join(s.dir, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
			t.Fatal(err)
		}
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := exec.Command(goTool, "env", "GOPATH", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	s.goPath, s.goCache, _ = strings.Cut(strings.TrimSpace(string(dirs)), "\n")
	// The program is in the path already. A program of the page is compiled with
	// the packages of this tree, as if its module required it.
	s.write(".bin/go", fmt.Sprintf(`#!/bin/sh
dir=$PWD
cd '%s' || exit
case "$1 $2" in
"install -trimpath" | "build ./cmd/urlfold") exec '%s' list ./cmd/urlfold >/dev/null ;;
"run ./cmd/urlfold") shift 2; cd "$dir" && exec urlfold "$@" ;;
"run main.go") exec '%[2]s' run "$dir/main.go" ;;
*) echo "go $*: not a command that the documents use" >&2; exit 2 ;;
esac
`, root, goTool), 0o755)
	return s
}

// freeAddress returns a loopback address that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *session) write(name, text string, mode os.FileMode) {
	s.t.Helper()
	name = filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

// local returns text of a page with the address of this session's server.
func (s *session) local(text string) string {
	return strings.ReplaceAll(text, "127.0.0.1:8686", s.address)
}

// file writes a block to the file that it names. A configuration that says nothing
// of the server gets the address of this session.
func (s *session) file(f *fence) {
	text := s.local(strings.Join(f.lines, "\n") + "\n")
	if strings.Contains(text, "\nsources:") && !strings.Contains(text, "\nadmin:") {
		text += "admin: {listen: " + strconv.Quote(s.address) + "}\n"
	}
	s.write(f.attrs["file"], text, 0o644)
}

// A result is the output of a command and its exit code.
type result struct {
	lines []string
	code  int
}

// run runs the commands in one shell, one after the other.
func (s *session) run(steps []step) []result {
	s.t.Helper()
	var script strings.Builder
	script.WriteString("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n")
	for _, st := range steps {
		// The next command finds the status of this one in $?.
		fmt.Fprintf(&script, "{ %s\n} 2>&1; status=$?; printf '\\036%%d\\036' $status; (exit $status)\n", s.local(st.command))
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir = s.dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(s.dir, ".bin")+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"HOME="+s.dir, "GOPATH="+s.goPath, "GOCACHE="+s.goCache, "LC_ALL=C.UTF-8", "COLUMNS=100", "URLFOLD_ADMIN="+s.address, "URLFOLD_CORPORA=")
	out, err := cmd.Output()
	parts := strings.Split(string(out), "\036")
	if len(parts) != 2*len(steps)+1 {
		s.t.Fatalf("after %d of %d commands: %v\n%s", len(parts)/2, len(steps), err, out)
	}
	results := make([]result, len(steps))
	for i := range results {
		text := strings.ReplaceAll(parts[2*i], s.dir, "/home/you")
		text = strings.ReplaceAll(text, s.address, "127.0.0.1:8686")
		results[i].code, _ = strconv.Atoi(parts[2*i+1])
		if text != "" {
			results[i].lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		}
	}
	return results
}

// TestDocsCommands runs the commands of README.md and docs as a reader would, page
// by page, and compares what they print with what the page shows. With -update it
// writes what they print into the page.
func TestDocsCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: runs hundreds of commands, which the race detector makes slow; run the tests without -short")
	}
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the commands of the documents; they need a POSIX shell, such as that of WSL")
	}
	for _, tool := range []string{"bash", "awk", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: the commands of the documents; install %s", tool)
		}
	}
	for _, page := range docPages(t) {
		lines := readPage(t, page)
		var steps []step
		var files []*fence
		for _, f := range fences(page, lines) {
			switch {
			case f.attrs["file"] != "":
				files = append(files, &f)
			case f.lang != "console" && f.lang != "sh":
			case !f.runs():
				for _, st := range f.steps() {
					t.Logf("%s:%d: not run, it needs %s: %s", page, f.line, f.attrs["needs"], st.command)
				}
			default:
				steps = append(steps, f.steps()...)
			}
		}
		if len(steps) > 0 {
			t.Run(page, func(t *testing.T) {
				t.Parallel()
				runPage(t, page, lines, files, steps)
			})
		}
	}
}

func runPage(t *testing.T, page string, lines []string, files []*fence, steps []step) {
	s := newSession(t)
	for _, f := range files {
		s.file(f)
	}
	results := s.run(steps)
	shift := 0
	for i, st := range steps {
		r := results[i]
		asked := i+1 < len(steps) && strings.HasPrefix(steps[i+1].command, "echo $?")
		if r.code != 0 && !asked {
			t.Errorf("%s: %s\nexits with %d\n%s", page, st.command, r.code, strings.Join(r.lines, "\n"))
		}
		if st.first == 0 || sameLines(st.shown, r.lines) {
			continue
		}
		if !*update {
			t.Errorf("%s:%d: %s\nprints\n%s\nand the page shows\n%s", page, st.first, st.command, strings.Join(r.lines, "\n"), strings.Join(st.shown, "\n"))
			continue
		}
		at := st.first - 1 + shift
		lines = slices.Replace(lines, at, at+len(st.shown), r.lines...)
		shift += len(r.lines) - len(st.shown)
	}
	if *update {
		path := filepath.Join("..", "..", "..", filepath.FromSlash(page))
		text := []byte(strings.Join(lines, "\n"))
		if old, err := os.ReadFile(path); err != nil || bytes.Equal(old, text) {
			return
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDocsFences checks that no command hides from TestDocsCommands in an indented
// block, and that blocks name their language.
func TestDocsFences(t *testing.T) {
	known := []string{"console", "sh", "text", "yaml", "json", "go", "python", "nginx", "html", "xml", "sql", "js", "java"}
	for _, page := range docPages(t) {
		lines := readPage(t, page)
		for i, line := range lines {
			if strings.HasPrefix(line, "    $ ") {
				t.Errorf("%s:%d: a command in an indented block: make it a fenced block of console", page, i+1)
			}
		}
		for _, f := range fences(page, lines) {
			if !slices.Contains(known, f.lang) {
				t.Errorf("%s:%d: the language of the block is %q; want one of %q", page, f.line-1, f.lang, known)
			}
			if f.lang == "console" && (len(f.lines) == 0 || !strings.HasPrefix(f.lines[0], "$ ")) {
				t.Errorf("%s:%d: a block of console begins with a command", page, f.line)
			}
		}
	}
}
