package objects_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// newStore returns a store that retries quickly, and the log of its requests.
func newStore(t *testing.T, patience time.Duration) (*objects.Store, *bytes.Buffer) {
	t.Helper()
	client, err := s3.New(settings(t))
	if err != nil {
		t.Fatal(err)
	}
	s := objects.NewStore(client)
	var log bytes.Buffer
	s.Patience, s.Pause, s.Log = patience, time.Microsecond, slog.New(slog.NewTextHandler(&log, nil))
	return s, &log
}

// settings returns the settings in the environment of the test.
func settings(t *testing.T) s3.Settings {
	t.Helper()
	set, err := s3.Parse("", func(name string) string {
		return map[string]string{"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// endpoint is the URL of the server of the running test.
var endpoint string

// newServer starts a server and remembers its URL.
func newServer(t *testing.T) *s3test.Server {
	srv := s3test.New(t)
	endpoint = srv.URL
	return srv
}

// random returns n bytes that look like nothing.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 20)}).Read(b) // it never fails
	return b
}

// open opens the object with the key.
func open(t *testing.T, s *objects.Store, key string) (*objects.Reader, error) {
	t.Helper()
	o, err := s.Head(t.Context(), "s3://bucket/"+key)
	if err != nil {
		t.Fatal(err)
	}
	return s.Open(t.Context(), o)
}

// TestReadFaults: whatever the connection does, a reader returns the bytes of the
// object, each once.
func TestReadFaults(t *testing.T) {
	srv := newServer(t)
	data := random(9<<20 + 17)
	srv.Put("big", data)
	var n atomic.Int32
	var faults [6]atomic.Int32
	srv.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.Header.Get("Range") == "" {
			return false
		}
		k := n.Add(1) % 6
		faults[k].Add(1)
		switch k {
		case 1:
			s3test.Fail(w, http.StatusServiceUnavailable, "SlowDown")
		case 2: // reset
			panic(http.ErrAbortHandler)
		case 3: // truncated body
			var from, to int
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			w.Header().Set("ETag", r.Header.Get("If-Match"))
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(data)))
			w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(data[from : from+(to-from)/2])
			panic(http.ErrAbortHandler)
		case 4: // the whole object instead of the range
			w.Header().Set("ETag", r.Header.Get("If-Match"))
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			_, _ = w.Write(data)
		default:
			return false
		}
		return true
	})
	s, _ := newStore(t, time.Minute)
	r, err := open(t, s, "big")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v; want the %d bytes of the object", len(got), err, len(data))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for k := range faults[:5] {
		if faults[k].Load() == 0 {
			t.Errorf("fault %d did not occur", k)
		}
	}
}

// TestReadChanged: an object that is replaced or removed while it is read is an
// error.
func TestReadChanged(t *testing.T) {
	srv := newServer(t)
	for _, change := range []func(){func() { srv.Put("o", random(8<<20+1)) }, func() { srv.Delete("o") }} {
		srv.Put("o", random(8<<20))
		s, _ := newStore(t, time.Minute)
		r, err := open(t, s, "o")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		change()
		for range 2 { // the error stays
			if _, err = io.Copy(io.Discard, r); objects.KindOf(err) != objects.Changed {
				t.Errorf("got %v, want Changed", err)
			}
		}
		_ = r.Close()
	}
}

// TestReader: seeking, reading at an offset and closing in the middle.
func TestReader(t *testing.T) {
	srv := newServer(t)
	data := random(6 << 20)
	srv.Put("o", data)
	srv.Put("empty", nil)
	s, _ := newStore(t, time.Minute)
	r, err := open(t, s, "o")
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []int64{5 << 20, 3, 3, 6<<20 - 1, 0} {
		if at, err := r.Seek(off, io.SeekStart); at != off || err != nil {
			t.Fatal(at, err)
		}
		got := make([]byte, 1)
		if _, err := io.ReadFull(r, got); err != nil || got[0] != data[off] {
			t.Errorf("at %d: %v, %v", off, got, err)
		}
		if at, err := r.Seek(-1, io.SeekCurrent); at != off || err != nil {
			t.Errorf("back to %d: %d, %v", off, at, err)
		}
	}
	rest, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(rest, data) {
		t.Errorf("read %d bytes, %v", len(rest), err)
	}
	got := make([]byte, 100)
	for _, off := range []int64{0, 1 << 20, 1<<20 + 50, 6<<20 - 100} {
		if n, err := r.ReadAt(got, off); n != 100 || err != nil || !bytes.Equal(got, data[off:off+100]) {
			t.Errorf("ReadAt %d: %d, %v", off, n, err)
		}
	}
	if n, err := r.ReadAt(got, 6<<20-10); n != 10 || err != io.EOF {
		t.Errorf("ReadAt across the end: %d, %v", n, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	r, err = open(t, s, "empty")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.Read(got); n != 0 || err != io.EOF {
		t.Errorf("empty object: %d, %v", n, err)
	}
}

// TestOpenFails: what cannot be read is found by Open.
func TestOpenFails(t *testing.T) {
	srv := newServer(t)
	srv.Put("cold", []byte("x"))
	srv.Archive("cold")
	s, _ := newStore(t, time.Minute)
	if _, err := open(t, s, "cold"); objects.KindOf(err) != objects.Archived || !strings.Contains(err.Error(), "restore it first") {
		t.Errorf("archived object: %v", err)
	}
}

// write writes data to the object with the key in pieces of odd lengths.
func write(s *objects.Store, key string, data []byte, replace bool) error {
	w, err := s.Create(context.Background(), "s3://bucket/"+key, replace)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		n := min(len(data), 1<<20+1)
		if _, err := w.Write(data[:n]); err != nil {
			return abort(w, err)
		}
		data = data[n:]
	}
	if err := w.Complete(); err != nil {
		return abort(w, err)
	}
	return nil
}

// abort aborts w and returns err.
func abort(w *objects.Writer, err error) error {
	_ = w.Abort() // err is the error of the test
	return err
}

// TestWrite: outputs of no, one and several parts, although requests fail and
// answers are lost.
func TestWrite(t *testing.T) {
	srv := newServer(t)
	var n atomic.Int32
	srv.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodHead || r.Method == http.MethodGet:
			return false
		case n.Add(1)%3 == 1:
			s3test.Fail(w, http.StatusInternalServerError, "InternalError")
			return true
		case n.Load()%3 == 2 && !r.URL.Query().Has("uploads"): // the request is done, and its answer is lost
			srv.Lose(w, r)
			return true
		}
		return false
	})
	s, _ := newStore(t, time.Minute)
	for _, size := range []int{0, 1, 16 << 20, 16<<20 + 1, 33 << 20} {
		key, data := fmt.Sprint("out/", size), random(size)
		if err := write(s, key, data, false); err != nil {
			t.Errorf("%d bytes: %v", size, err)
			continue
		}
		if !bytes.Equal(srv.Get(key), data) {
			t.Errorf("%d bytes: the object differs", size)
		}
	}
	if srv.Uploads() != 0 {
		t.Errorf("%d uploads are open", srv.Uploads())
	}
}

// TestWriteExisting: an object of somebody else is never replaced without
// permission, and no upload stays open.
func TestWriteExisting(t *testing.T) {
	for _, size := range []int{10, 17 << 20} {
		srv := newServer(t)
		srv.Put("o", []byte("theirs"))
		s, _ := newStore(t, time.Minute)
		if err := write(s, "o", random(size), false); objects.KindOf(err) != objects.Exists {
			t.Errorf("got %v, want Exists", err)
		}
		if err := write(s, "o", random(size), true); err != nil || len(srv.Get("o")) != size {
			t.Errorf("replace: %v", err)
		}
		w, err := s.Create(t.Context(), "s3://bucket/late", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(random(size)); err != nil {
			t.Fatal(err)
		}
		srv.Put("late", []byte("theirs"))
		if err := abort(w, w.Complete()); objects.KindOf(err) != objects.Exists {
			t.Errorf("got %v, want Exists", err)
		}
		if string(srv.Get("late")) != "theirs" || srv.Uploads() != 0 {
			t.Errorf("the other object is %d bytes long, and %d uploads are open", len(srv.Get("late")), srv.Uploads())
		}
	}
}

// TestWriteUnconditional: a store without conditions still protects objects that
// it has already.
func TestWriteUnconditional(t *testing.T) {
	srv := newServer(t)
	srv.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("If-None-Match") != "" {
			s3test.Fail(w, http.StatusNotImplemented, "NotImplemented")
			return true
		}
		return false
	})
	s, _ := newStore(t, time.Minute)
	if err := write(s, "new", random(17<<20), false); err != nil || len(srv.Get("new")) != 17<<20 {
		t.Errorf("new object: %v", err)
	}
	w, err := s.Create(t.Context(), "s3://bucket/late", false)
	if err != nil {
		t.Fatal(err)
	}
	srv.Put("late", []byte("theirs"))
	if err := abort(w, w.Complete()); objects.KindOf(err) != objects.Exists || string(srv.Get("late")) != "theirs" {
		t.Errorf("got %v, want Exists", err)
	}
}

// TestWriteFails: when the patience ends, the error says why, and Abort removes
// the parts.
func TestWriteFails(t *testing.T) {
	srv := newServer(t)
	srv.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("partNumber") == "2" {
			s3test.Fail(w, http.StatusServiceUnavailable, "SlowDown")
			return true
		}
		return false
	})
	s, log := newStore(t, time.Second)
	err := write(s, "o", random(40<<20), false)
	srv.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		s3test.Fail(w, http.StatusServiceUnavailable, "SlowDown")
		return true
	})
	// Parts are so large that a busy machine may not retry often enough.
	if _, err := s.Head(t.Context(), "s3://bucket/o"); err == nil {
		t.Error("the head succeeded")
	}
	if text := log.String(); !strings.Contains(text, "object request failed, retrying") || strings.Contains(text, s3test.Secret) {
		t.Errorf("the log lacks the retries or contains the secret key:\n%s", text)
	}
	if err == nil || !strings.Contains(err.Error(), "SlowDown") {
		t.Errorf("got %v, want SlowDown", err)
	}
	if srv.Uploads() != 0 || srv.Get("o") != nil {
		t.Errorf("%d uploads are open", srv.Uploads())
	}
}

// TestPartSize: the parts of an upload are so large that 10,000 of them are enough.
func TestPartSize(t *testing.T) {
	srv := newServer(t)
	s, _ := newStore(t, time.Minute)
	data := bytes.Repeat([]byte("line\n"), 9<<20)
	for i, size := range []int64{int64(len(data)), 300 << 30} {
		before := srv.Requests(http.MethodPut)
		key := fmt.Sprint(i)
		if err := s.Upload(t.Context(), "s3://bucket/"+key, "run", false, size, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if parts, want := srv.Requests(http.MethodPut)-before, 3-i; parts != want || !bytes.Equal(srv.Get(key), data) {
			t.Errorf("an output of %d bytes: %d parts, want %d", size, parts, want)
		}
	}
}

// TestFind: from paths to objects.
func TestFind(t *testing.T) {
	srv := newServer(t)
	for _, key := range []string{"logs/", "logs/a.log", "logs/b/c.log.gz", "logs/b_$folder$", "logs-old/x.log", "logs/we*rd", "logs/../up"} {
		srv.Put(key, []byte(strings.TrimSuffix(strings.TrimSuffix(key, "/"), "_$folder$"))[:len(key)*btoi(!strings.HasSuffix(key, "/") && !strings.HasSuffix(key, "$"))])
	}
	for i := range 250 {
		srv.Put(fmt.Sprintf("many/%03d", i), nil)
	}
	s, _ := newStore(t, time.Minute)
	for _, c := range []struct{ path, want string }{
		{"s3://bucket/logs", "../up=up a.log=a.log b/c.log.gz=b/c.log.gz we*rd=we*rd"},
		{"s3://bucket/logs/", "../up=up a.log=a.log b/c.log.gz=b/c.log.gz we*rd=we*rd"},
		{"s3://bucket/logs/a.log", "a.log=a.log"},
		{"s3://bucket/logs/we*rd", "we*rd=we*rd"},
		{"s3://bucket/logs/*.log", "a.log=a.log"},
		{"s3://bucket/logs/**/*.gz", "b/c.log.gz=b/c.log.gz"},
		{"s3://bucket/lo", ""},
		{"s3://bucket/missing", ""},
	} {
		list, err := find(t, s, c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		var got []string
		for _, f := range list {
			got = append(got, strings.TrimPrefix(f.Key, "logs/")+"="+f.Rel)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.path, got, c.want)
		}
	}
	list, err := find(t, s, "s3://bucket/many")
	if err != nil || len(list) != 250 || !slices.IsSortedFunc(list, func(a, b objects.Found) int { return strings.Compare(a.Key, b.Key) }) {
		t.Errorf("many objects: %d, %v", len(list), err)
	}
}

// find returns the objects that path names.
func find(t *testing.T, s *objects.Store, path string) (list []objects.Found, err error) {
	_, err = s.Find(t.Context(), path, nil, func(f objects.Found) { list = append(list, f) })
	return list, err
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestUnreachable: the patience with a store that never answers is short, and the
// error does not contain the request.
func TestUnreachable(t *testing.T) {
	newServer(t)
	endpoint = "http://127.0.0.1:1"
	s, _ := newStore(t, 20*time.Millisecond)
	_, err := s.Head(t.Context(), "s3://bucket/secret-key-name")
	if objects.KindOf(err) != objects.Unreachable || strings.Contains(err.Error(), "secret-key-name") {
		t.Errorf("got %v", err)
	}
}
