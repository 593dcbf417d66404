package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// logLines returns n lines of an access log.
func logLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "192.0.2.%d - - [10/Oct/2000:13:55:36 +0000] \"GET /a//%d?b=1&a=%%7E HTTP/1.1\" 200 %d \"-\" \"-\"\n", i%250, i, i*7919)
	}
	return b.Bytes()
}

// zipped returns text in a gzip file.
func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// runBucket runs the program, which must end with the exit code want, and returns
// its outputs.
func runBucket(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd, log := program(t, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if got := code(t, cmd.Run()); got != want {
		t.Fatalf("%q: exit code %d, want %d: %s", args, got, want, log)
	}
	if strings.Contains(log.String()+out.String(), s3test.Secret) {
		t.Errorf("%q: the secret key is in the output", args)
	}
	return out.String(), log.String()
}

// TestBucketInputs: every command that reads files reads objects, and the results
// are the same.
func TestBucketInputs(t *testing.T) {
	srv := s3test.New(t)
	dir := t.TempDir()
	for name, text := range map[string][]byte{"a.log": logLines(20000), "sub/b.log.gz": zipped(t, logLines(30000)), "sub/empty.log": nil} {
		srv.Put("logs/"+name, text)
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	srv.Put("logs/sub/", nil) // a folder, as consoles make it
	for _, args := range [][]string{
		{"--quiet"}, {"--quiet", "--fields", "url,path,line", "--to", "jsonl", "--shard", "1/2"}, {"top", "-n", "3"}, {"count"}, {"report"}, {"check", "--integrity"},
		{"--quiet", "--on-damage", "quarantine"}, {"--quiet", "--dedupe=last"},
	} {
		files, _ := runBucket(t, 0, append(args, dir)...)
		stored, _ := runBucket(t, 0, append(args, "s3://bucket/logs")...)
		files = strings.ReplaceAll(files, dir, "s3://bucket/logs")
		if args[0] == "report" { // a report contains the time at which it was made
			files, stored = files[:40], stored[:40]
		}
		if files != stored || stored == "" {
			t.Errorf("%q: files:\n%.500s\nobjects:\n%.500s", args, files, stored)
		}
	}
	if text, _ := runBucket(t, 0, "--quiet", "s3://bucket/logs/**/*.gz"); strings.Count(text, "\n") != 30000 {
		t.Errorf("glob: %d lines", strings.Count(text, "\n"))
	}
}

// TestBucketOutputs: an output in a bucket is complete or does not exist.
func TestBucketOutputs(t *testing.T) {
	srv := s3test.New(t)
	srv.Put("in/a.log", logLines(20000))
	srv.Put("in/deep/b.log.gz", zipped(t, logLines(10)))
	srv.Put("in/deep/none.log", nil)
	want, _ := runBucket(t, 0, "--quiet", "s3://bucket/in/a.log")
	runBucket(t, 0, "--quiet", "s3://bucket/in/a.log", "-o", "s3://bucket/out/a.log")
	if string(srv.Get("out/a.log")) != want {
		t.Error("-o: the object differs from the output on stdout")
	}
	runBucket(t, 0, "s3://bucket/in", "--output-dir", "s3://bucket/mirror/", "--summary", "s3://bucket/mirror.json")
	if string(srv.Get("mirror/a.log")) != want || srv.Get("mirror/deep/b.log.gz") == nil || srv.Get("mirror/deep/none.log") == nil || srv.Get("mirror.json") == nil {
		t.Errorf("--output-dir: got %q", srv.Keys())
	}
	dir := t.TempDir()
	runBucket(t, 0, "--quiet", "--resume", "--output-dir", dir, "s3://bucket/in")
	n := srv.Requests(http.MethodGet)
	runBucket(t, 0, "--quiet", "--resume", "--output-dir", dir, "s3://bucket/in")
	if text, err := os.ReadFile(filepath.Join(dir, "a.log")); string(text) != want || err != nil {
		t.Errorf("folder: %d bytes, %v", len(text), err)
	}
	if again := srv.Requests(http.MethodGet) - n; again > 4 { // the listing, and the beginnings of the objects
		t.Errorf("--resume: %d requests although all outputs are finished", again)
	}
	runBucket(t, 0, "top", "s3://bucket/in", "-o", "s3://bucket/top.tsv")
	runBucket(t, 0, "--quiet", "s3://bucket/in", "--to", "parquet", "-o", "s3://bucket/all.parquet")
	if text, _ := runBucket(t, 0, "check", "--integrity", "s3://bucket/all.parquet"); !strings.Contains(text, "20,010 lines") {
		t.Errorf("Parquet: %s", text)
	}
	runBucket(t, 0, "--quiet", "s3://bucket/all.parquet", "--force", "-o", "s3://bucket/again.parquet")

	keys := srv.Keys()
	for _, c := range []struct {
		want string
		args []string
	}{
		{"use --force", []string{"s3://bucket/in/a.log", "-o", "s3://bucket/out/a.log"}},
		{"the output is one of the inputs", []string{"s3://bucket/in/a.log", "--force", "-o", "s3://bucket/in/a.log"}},
		{"must be s3://BUCKET/KEY", []string{"s3://bucket/in/a.log", "-o", "s3://bucket"}},
		{"inside the output directory", []string{"s3://bucket/in", "--output-dir", "s3://bucket/in/deep"}},
		{"cannot replace objects", []string{"--in-place", "s3://bucket/in"}},
		{"not possible with objects", []string{"--resume", "--output-dir", "s3://bucket/new", "s3://bucket/in"}},
		{"NoSuchBucket", []string{"s3://other/in"}},
		{"no objects", []string{"s3://bucket/nothing"}},
		{"invalid setting", []string{"--s3", "end=x", "s3://bucket/in"}},
		{"must not contain a user", []string{"--s3", "endpoint=http://u:" + s3test.Secret + "@h", "s3://bucket/in"}},
	} {
		if _, text := runBucket(t, 2, c.args...); !strings.Contains(text, c.want) {
			t.Errorf("%q: want %q in %s", c.args, c.want, text)
		}
	}
	if got := srv.Keys(); !slices.Equal(got, keys) || srv.Uploads() != 0 {
		t.Errorf("refused runs changed the bucket: %q, want %q; %d uploads", got, keys, srv.Uploads())
	}
}

// TestBucketAtOnce: objects do not wait for each other's answers.
func TestBucketAtOnce(t *testing.T) {
	srv := s3test.New(t)
	for i := range 40 {
		srv.Put(fmt.Sprintf("in/%02d.log", i), logLines(10))
	}
	var now, most atomic.Int32
	srv.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(20 * time.Millisecond)
			now.Add(-1)
		}
		return false
	})
	text, _ := runBucket(t, 0, "--quiet", "s3://bucket/in")
	if strings.Count(text, "\n") != 400 {
		t.Errorf("%d lines", strings.Count(text, "\n"))
	}
	if n := srv.Requests(http.MethodGet); most.Load() < 4 || n > 81 { // two for each object, and the listing
		t.Errorf("at most %d requests at once, and %d in all", most.Load(), n)
	}
}

// TestBucketDamage: an object that cannot be read, or changes while it is read,
// has a verdict, as a file has.
func TestBucketDamage(t *testing.T) {
	srv := s3test.New(t)
	srv.Put("in/a.log", logLines(10))
	srv.Put("in/cold.log", logLines(10))
	srv.Archive("in/cold.log")
	text, _ := runBucket(t, 4, "check", "--integrity", "s3://bucket/in")
	if !strings.Contains(text, "cold.log: unreadable at byte 0: object is archived: restore it first") {
		t.Errorf("archived object: %s", text)
	}
	runBucket(t, 0, "--quiet", "s3://bucket/in", "--exclude", "cold*")

	// If an object changes while it is read, no output contains parts of two
	// versions.
	big := logLines(100_000)
	srv.Put("in/a.log", big)
	var reads atomic.Int32
	srv.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" && reads.Add(1) == 4 {
			srv.Put("in/a.log", logLines(99_000))
		}
		return false
	})
	_, log := runBucket(t, 4, "s3://bucket/in/a.log", "--output-dir", "s3://bucket/out")
	if !strings.Contains(log, "object changed or was removed while it was being read") {
		t.Errorf("changed object: %s", log)
	}
}
