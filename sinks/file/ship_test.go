package file

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// shipFrom opens a sink that ships the files in dir.
func shipFrom(t *testing.T, dir string) *shipper {
	t.Helper()
	cfg := DefaultLogConfig()
	cfg.Path, cfg.ExactlyOnce = filepath.Join(dir, "out", "{lane}.log"), true
	cfg.Bucket = &Bucket{Folder: dir, Prefix: "s3://bucket/", Connect: func() (*objects.Store, error) {
		store, err := s3.Connect(connect.S3{}, os.Getenv, nil)
		if err == nil {
			store.Pause, store.Patience = time.Millisecond, 20*time.Millisecond
		}
		return store, err
	}}
	s, err := newShipper(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// finished puts a finished file into dir.
func finished(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, "out", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestShip: a finished file that another process has left becomes an object, and
// keeps its name as an empty file. It is not uploaded again.
func TestShip(t *testing.T) {
	srv, dir := s3test.New(t), t.TempDir()
	path := finished(t, dir, "a.log", "text\n")
	finished(t, dir, "b.log.part", "unfinished\n")
	for range 2 {
		if err := shipFrom(t, dir).Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		fi, err := os.Stat(path)
		if got := srv.Get("out/a.log"); string(got) != "text\n" || len(srv.Keys()) != 1 || err != nil || fi.Size() != 0 {
			t.Errorf("objects %v, file %+v", srv.Keys(), fi)
		}
	}
	if n := srv.Requests(http.MethodPut); n != 1 {
		t.Errorf("%d uploads", n)
	}
}

// TestShipKilled: a process that was killed after the object was complete, and
// before it had marked the file, finds its object again. An upload that it had
// begun is aborted, and those of other keys are not.
func TestShipKilled(t *testing.T) {
	srv, dir := s3test.New(t), t.TempDir()
	path := finished(t, dir, "a.log", strings.Repeat("a line\n", 3<<20))
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := shipFrom(t, dir).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := srv.Get("out/a.log")
	finished(t, dir, "a.log", string(text))
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, fi.ModTime(), fi.ModTime()); err != nil {
		t.Fatal(err)
	}
	client, err := s3.New(s3.Settings{Endpoint: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"out/a.log", "out/a.log.theirs"} {
		if _, err := client.Create(t.Context(), "bucket", key, objects.Put{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := shipFrom(t, dir).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys := srv.Keys(); !slices.Equal(keys, []string{"out/a.log"}) {
		t.Errorf("objects %v", keys)
	}
	if left, _ := client.Uploads(t.Context(), "bucket", ""); len(left) != 1 || left[0].Key != "out/a.log.theirs" {
		t.Errorf("open uploads %v", left)
	}
}

// TestShipTaken: an object of somebody else is not replaced.
func TestShipTaken(t *testing.T) {
	srv, dir := s3test.New(t), t.TempDir()
	srv.Put("out/a.log", []byte("theirs"))
	finished(t, dir, "a.log", "ours\n")
	if err := shipFrom(t, dir).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if string(srv.Get("out/a.log")) != "theirs" || string(srv.Get("out/a-2.log")) != "ours\n" {
		t.Errorf("objects %v", srv.Keys())
	}
}

// TestShipFails: while the store refuses uploads, Health says so and Close fails,
// and the file stays. The next process uploads it.
func TestShipFails(t *testing.T) {
	srv, dir := s3test.New(t), t.TempDir()
	path := finished(t, dir, "a.log", "text\n")
	var refused atomic.Int32
	srv.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		refused.Add(1)
		s3test.Fail(w, http.StatusForbidden, "AccessDenied")
		return true
	})
	s := shipFrom(t, dir)
	for s.Health() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := s.Health(); !strings.Contains(err.Error(), "s3://bucket/out/a.log: access denied") {
		t.Errorf("health: %v", err)
	}
	if err := s.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "1 finished outputs not uploaded") {
		t.Errorf("Close: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "text\n" || refused.Load() < 2 {
		t.Errorf("file %q, %v after %d refused uploads", text, err, refused.Load())
	}
	srv.SetFault(nil)
	if err := shipFrom(t, dir).Close(t.Context()); err != nil || string(srv.Get("out/a.log")) != "text\n" {
		t.Errorf("objects %v: %v", srv.Keys(), err)
	}
}
