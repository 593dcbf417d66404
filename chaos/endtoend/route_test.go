package endtoend

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// routing holds a folder with logs, and the configurations that read them.
type routing struct {
	t   *testing.T
	dir string
}

// newRouting writes logs to a folder: a real one several times, with a
// different first line each time, because a copy would count as the same
// file.
func newRouting(t *testing.T) *routing {
	t.Helper()
	corpora := os.Getenv("URLFOLD_CORPORA")
	name := filepath.Join(corpora, "logs", "combined", "elastic_apache_logs.log")
	text, err := os.ReadFile(name)
	if corpora == "" || err != nil {
		t.Skip("skipped: " + name + "; set URLFOLD_CORPORA to the folder of the corpora")
	}
	r := &routing{t, t.TempDir()}
	for i := range few(4, 40) {
		first := fmt.Sprintf("not a line of a log, number %d\n\n", i)
		r.write(fmt.Sprintf("in/%02d.log", i), append([]byte(first), text...))
	}
	return r
}

func (r *routing) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *routing) write(name string, text []byte) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), text, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// configuration returns a configuration with the given sinks and route, whose
// state is in the folder data.
func (r *routing) configuration(data, flow string) string {
	return fmt.Sprintf(`version: 1
data_dir: %q
admin: {listen: ""}
sources:
  - file: {from: combined, include: [%q], mode: batch}
commit_interval: 10ms
workers: 1
%s`, r.path(data), r.path("in/*.log"), flow)
}

// run runs the configuration to the end of the input. Before that, it kills the
// process some times, each time after the output has grown.
func (r *routing) run(config, out string, kills int) {
	r.t.Helper()
	r.write("c.yaml", []byte(config))
	rng := rand.New(rand.NewPCG(uint64(kills), 14))
	done := 0
	for range kills {
		p, err := chaos.Start(nil, binary, "run", "-c", r.path("c.yaml"), "--until-eof")
		if err != nil {
			r.t.Fatal(err)
		}
		began, more := r.size(out), 1+rng.Int64N(200<<10)
		advance(r.t, "more output", func() int64 { return r.size(out) }, func() bool { return p.Ended() || r.size(out) > began+more })
		if p.Ended() {
			break
		}
		p.Kill()
		done++
	}
	if done < min(kills, 2) {
		r.t.Fatalf("the run ended after %d kills", done)
	}
	p, err := chaos.Start(nil, binary, "run", "-c", r.path("c.yaml"), "--until-eof")
	if err != nil {
		r.t.Fatal(err)
	}
	if code, err := p.Wait(context.Background(), patience); err != nil || code != 0 {
		r.t.Fatalf("exit code %d, %v\n%s", code, err, p.Output())
	}
	r.t.Logf("%s: %d kills", out, done)
}

// size returns the size of all files below a folder.
func (r *routing) size(dir string) (n int64) {
	_ = filepath.WalkDir(r.path(dir), func(_ string, d fs.DirEntry, err error) error { // files come and go
		if err != nil {
			return nil
		}
		if fi, err := d.Info(); err == nil && !d.IsDir() {
			n += fi.Size()
		}
		return nil
	})
	return n
}

// lines returns the lines of the files below a folder, by file name without the
// extension of a compression.
func (r *routing) lines(dir string) map[string][]string {
	r.t.Helper()
	all := map[string][]string{}
	names, err := filepath.Glob(r.path(dir + "/*"))
	if err != nil || len(names) == 0 {
		r.t.Fatalf("no files in %s: %v", dir, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			r.t.Fatal(err)
		}
		in := compress.NewReader(bytes.NewReader(text), compress.Options{})
		s := bufio.NewScanner(in)
		key := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".gz"), ".zst")
		for s.Scan() {
			all[key] = append(all[key], s.Text())
		}
		if s.Err() != nil {
			r.t.Fatalf("%s: %v", name, s.Err())
		}
		in.Close()
	}
	return all
}

// statusOf finds the status in a line, without the program: it is the number
// after the quoted request.
var statusOf = regexp.MustCompile(`^\S+ \S+ \S+ \[[^\]]*\] "(?:[^"\\]|\\.)*" (\d{3}) `)

// isError reports whether a line has a status of at least 400.
func isError(line string) bool {
	m := statusOf.FindStringSubmatch(line)
	return m != nil && m[1] >= "400"
}

// TestRouteKilled: two sinks that share the records of real logs hold together
// exactly those of a run without a route, although the process is killed several
// times: each record once, in its branch, in order.
func TestRouteKilled(t *testing.T) {
	r := newRouting(t)
	r.run(r.configuration("state-all", fmt.Sprintf("sinks:\n  - file: {path: %q, exactly_once: true}\n", r.path("all/{source.relpath}"))), "all", 0)
	all := r.lines("all")

	flow := `sinks:
  - file: {name: errors, path: %q, exactly_once: true}
  - file: {name: rest, path: %q, exactly_once: true}
route:
  - where: status >= 400
    sinks: [errors]
  - else: [rest]
`
	t.Run("each", func(t *testing.T) {
		r := &routing{t, r.dir}
		r.run(r.configuration("state-each", fmt.Sprintf(flow, r.path("each/errors/{source.relpath}"), r.path("each/rest/{source.relpath}.zst"))), "each", 6)
		failed, rest := r.lines("each/errors"), r.lines("each/rest")
		for name, lines := range all {
			r.same(name+" errors", failed[name], slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !isError(l) }))
			r.same(name+" rest", rest[name], slices.DeleteFunc(slices.Clone(lines), isError))
		}
	})
	t.Run("shared", func(t *testing.T) {
		r := &routing{t, r.dir}
		r.run(r.configuration("state-shared", fmt.Sprintf(flow, r.path("shared/errors.log.gz"), r.path("shared/rest.log.zst"))), "shared", 6)
		var whole []string
		for _, lines := range all {
			whole = append(whole, lines...)
		}
		got := r.lines("shared")
		r.same("errors", sorted(got["errors.log"]), sorted(slices.DeleteFunc(slices.Clone(whole), func(l string) bool { return !isError(l) })))
		r.same("rest", sorted(got["rest.log"]), sorted(slices.DeleteFunc(whole, isError)))
	})
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// same checks that two lists of lines are equal and not empty.
func (r *routing) same(what string, got, want []string) {
	r.t.Helper()
	if len(got) == 0 || !slices.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		r.t.Errorf("%s: %d lines, want %d; the first difference is in line %d", what, len(got), len(want), at+1)
	}
}
