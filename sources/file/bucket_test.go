package file

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// ofBucket makes a watcher read objects. change may be nil.
func ofBucket(change func(*objects.Store)) func(*WatchConfig) {
	return func(cfg *WatchConfig) {
		cfg.Objects = &Objects{Connect: func() (*objects.Store, error) {
			s, err := s3.Connect(connect.S3{}, os.Getenv, cfg.Logger)
			if err == nil {
				s.Pause = time.Millisecond
				if change != nil {
					change(s)
				}
			}
			return s, err
		}}
	}
}

// zipped returns n lines that are hard to compress, and the gzip file of them.
func zipped(name string, n int) (all []string, file []byte) {
	r := rand.New(rand.NewPCG(1, uint64(len(name))))
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for i := range n {
		all = append(all, fmt.Sprintf("%s|%d|%x%x\n", name, i, r.Uint64(), r.Uint64()))
		_, _ = w.Write([]byte(all[i]))
	}
	_ = w.Close()
	return all, b.Bytes()
}

// A meter is a fault that counts the requested bytes of objects.
type meter struct {
	sync.Mutex
	bytes int64
}

func (m *meter) count(_ http.ResponseWriter, r *http.Request) bool {
	first, last, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-")
	a, _ := strconv.ParseInt(first, 10, 64)
	b, _ := strconv.ParseInt(last, 10, 64)
	m.Lock()
	defer m.Unlock()
	if ok {
		m.bytes += b - a + 1
	}
	return false
}

// TestObjectResumes: a daemon that was killed within a compressed object reads
// again at most the distance of two restart points and the ranges that it fetches
// ahead, and no line is lost or doubled.
func TestObjectResumes(t *testing.T) {
	srv := s3test.New(t)
	want, data := zipped("a", 400_000)
	srv.Put("logs/a.gz", data)
	sink, dir, dead := &shelf{exact: true}, t.TempDir(), make(chan struct{})
	sink.full = func(n int) {
		if n > len(want)*4/5 { // it must not end before it is killed
			<-dead
		}
	}
	d := start(t, dir, batch("s3://bucket/logs"), sink, ofBucket(nil))
	until(t, "most of the object", func() bool {
		d.w.mu.Lock()
		defer d.w.mu.Unlock()
		return len(d.w.known.tracks) > 0 && d.w.known.tracks[0].entry.Offset > 8<<20
	})
	d.life.dead.Store(true)
	close(dead)
	d.kill()
	m := new(meter)
	srv.SetFault(m.count)
	d = start(t, dir, batch("s3://bucket/logs"), sink, ofBucket(nil))
	d.wait()
	sink.check(t, want)
	if again := d.w.Stats().Reinflated; again > 2<<20 {
		t.Errorf("%d bytes of text decompressed again", again)
	}
	if all := int64(len(data)); m.bytes > all*3/4 {
		t.Errorf("the second run requested %d bytes of %d", m.bytes, all)
	}
}

// TestObjectChanges: an object that is replaced while it is read has the verdict
// unreadable. The new one is read as another text, from its beginning.
func TestObjectChanges(t *testing.T) {
	srv := s3test.New(t)
	first, second := numbered("old", 0, 200_000), numbered("new", 0, 50)
	srv.Put("a", []byte(strings.Join(first, "")))
	var replace sync.Once
	sink := &shelf{}
	sink.full = func(n int) {
		if n > 100 {
			replace.Do(func() { srv.Put("a", []byte(strings.Join(second, ""))) })
		}
	}
	d := start(t, t.TempDir(), batch("s3://bucket/a"), sink, ofBucket(nil))
	d.wait()
	old := slices.IndexFunc(sink.lines, func(l string) bool { return strings.HasPrefix(l, "new") })
	if old < 100 {
		t.Fatalf("%d lines before the new object", old)
	}
	sink.check(t, slices.Concat(first[:len(sink.lines)-len(second)], second))
	slices.SortFunc(d.reports, func(a, b Report) int { return int(b.Verdict.Kind) - int(a.Verdict.Kind) })
	if len(d.reports) != 2 || d.reports[0].Verdict.Kind != compress.Unreadable || d.reports[1].Verdict.Damage() {
		t.Errorf("reports %+v", d.reports)
	}
}

// TestObjectKinds: objects that stand for folders and those that a pattern
// excludes are ignored, empty ones are inputs, and one that is archived is
// reported and does not keep the run from reading the others.
func TestObjectKinds(t *testing.T) {
	srv := s3test.New(t)
	want := numbered("a", 0, 100)
	srv.Put("logs/", nil)
	srv.Put("logs/b_$folder$", nil)
	srv.Put("logs/a", []byte(strings.Join(want, "")))
	srv.Put("logs/c.tmp", []byte("excluded\n"))
	srv.Put("logs/empty", nil)
	srv.Put("logs/glacier", []byte("archived\n"))
	srv.Archive("logs/glacier")
	sink, set := &shelf{}, batch("s3://bucket/logs")
	set.Exclude = []string{"*.tmp"}
	d := start(t, t.TempDir(), set, sink, ofBucket(nil))
	d.wait()
	sink.check(t, want)
	got := map[string]compress.Kind{}
	for _, r := range d.reports {
		got[r.Path] = r.Verdict.Kind
	}
	if len(got) != 3 || got["s3://bucket/logs/a"] != compress.OK || got["s3://bucket/logs/empty"] != compress.OK || got["s3://bucket/logs/glacier"] != compress.Unreadable {
		t.Errorf("verdicts %v", got)
	}
}

// TestObjectsPolled: new objects are found whatever their keys, one that is
// written again with the same content is not read again, and finished ones are
// removed on request. A second daemon reads nothing again.
func TestObjectsPolled(t *testing.T) {
	srv := s3test.New(t)
	sink, dir := &shelf{}, t.TempDir()
	set := quick("s3://bucket/logs")
	d := start(t, dir, set, sink, ofBucket(nil))
	var want []string
	put := func(key string) {
		lines := numbered(key, 0, 100)
		srv.Put("logs/"+key, []byte(strings.Join(lines, "")))
		want = append(want, lines...)
		until(t, "lines of "+key, func() bool { return sink.count() == len(want) })
	}
	put("m")
	put("z")
	put("a")
	srv.Put("logs/m", srv.Get("logs/m"))
	put("b")
	until(t, "four finished objects", func() bool { return d.w.Stats().Done == 4 })
	d.end()
	set.OnFinish = OnFinish{word: deleteFile}
	d = start(t, dir, set, sink, ofBucket(nil))
	put("c")
	until(t, "removal", func() bool { return srv.Get("logs/c") == nil })
	d.end()
	sink.check(t, want)
	if left := srv.Keys(); len(left) != 4 {
		t.Errorf("objects %v", left)
	}
}

// TestFinishedObjects: a finished object has no track. Its entry is kept while the object
// is gone, so that the same content is not read again, and is removed after forget_after.
// Other content under its key is read.
func TestFinishedObjects(t *testing.T) {
	srv := s3test.New(t)
	sink, dir, set := &shelf{}, t.TempDir(), quick("s3://bucket/logs")
	first, second := numbered("first", 0, 100), numbered("second", 0, 50)
	srv.Put("logs/a", []byte(strings.Join(first, "")))
	srv.Put("logs/b", nil)
	d := start(t, dir, set, sink, ofBucket(nil))
	dismissed := func(n int) func() bool {
		return func() bool { return d.w.Stats().Done == n && d.tracks() == 0 }
	}
	until(t, "two finished objects", dismissed(2))
	entry := func() checkpoint.Entry {
		list := d.store.Entries("file")
		i := slices.IndexFunc(list, func(e checkpoint.Entry) bool { return e.Path == "s3://bucket/logs/a" && e.Line == 101 })
		if i < 0 {
			t.Fatalf("no entry of the first content in %+v", list)
		}
		return list[i]
	}
	if e := entry(); e.State != checkpoint.Done || e.Offset != e.Size || e.Hash+e.Head+e.Tail+e.Rel != "" || e.Gone != 0 {
		t.Errorf("entry %+v", e)
	}
	srv.Delete("logs/a")
	until(t, "a stored absence", func() bool { _ = d.w.Commit(t.Context(), nil); return entry().Gone != 0 })
	d.end()
	d = start(t, dir, set, sink, ofBucket(nil))
	srv.Put("logs/a", []byte(strings.Join(first, "")))
	until(t, "the same content again", func() bool { _ = d.w.Commit(t.Context(), nil); return entry().Gone == 0 })
	srv.Put("logs/a", []byte(strings.Join(second, "")))
	until(t, "three finished objects", dismissed(3))
	d.ahead.Store(int64(set.ForgetAfter + time.Hour))
	until(t, "two entries", func() bool {
		_ = d.w.Commit(t.Context(), nil)
		return len(d.store.Entries("file")) == 2 && dismissed(2)()
	})
	d.end()
	sink.check(t, slices.Concat(first, second))
}

// finish stores n objects with one line each, and entries that say that they were read.
func finish(t *testing.T, srv *s3test.Server, dir string, n int) {
	t.Helper()
	store, err := checkpoint.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	u := checkpoint.Update{Source: "file"}
	for i := range n {
		key := fmt.Sprintf("logs/AWSLogs/111122223333/elasticloadbalancing/eu-west-1/2026/11/30/app.load-balancer.%024d.log.gz", i)
		o := objects.Object{Bucket: "bucket", Key: key, ETag: srv.Put(key, []byte(key)).ETag, Size: int64(len(key))}
		s := stateOf(&o)
		s = s.at(o.Path(), "")
		u.Entries = append(u.Entries, checkpoint.Entry{
			ID: laneID(&s, nil, 0), Path: s.path, Dev: s.id.dev, Ino: s.id.ino, Size: s.size, Offset: s.size, Line: 2, State: checkpoint.Done,
		})
	}
	if err := errors.Join(store.Save(u), store.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestFinishedObjectsMemory: a finished object takes little memory, and after a restart
// none is read again.
func TestFinishedObjectsMemory(t *testing.T) {
	const n = 20_000
	srv, dir := s3test.New(t), t.TempDir()
	finish(t, srv, dir, n)
	before := heap()
	sink := &shelf{}
	d := start(t, dir, quick("s3://bucket/logs"), sink, ofBucket(nil))
	until(t, "a listing", func() bool { return d.w.Stats().Done == n && d.scanned() })
	if each := (heap() - before) / n; each > 600 {
		t.Errorf("%d bytes for each finished object", each)
	} else {
		t.Logf("%d bytes for each finished object", each)
	}
	d.end()
	if sink.count() > 0 || d.tracks() > 0 {
		t.Errorf("%d lines were read again, %d tracks", sink.count(), d.tracks())
	}
}

// TestObjectsOrdered: most listings take one page, although there are many objects.
// Objects that appear are read, also those of a new series, and the finished ones do
// not count as gone. One that sorts before the look-back is read after a restart, or
// when all objects are listed again.
func TestObjectsOrdered(t *testing.T) {
	const n, series = 1500, "logs/AWSLogs/111122223333/elasticloadbalancing/eu-west-1/2026/"
	srv, dir, sink := s3test.New(t), t.TempDir(), &shelf{}
	finish(t, srv, dir, n)
	var pages atomic.Int64 // requests that continue a listing
	srv.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("continuation-token") {
			pages.Add(1)
		}
		return false
	})
	var want []string
	put := func(key string) {
		lines := numbered(key, 0, 3)
		want = append(want, lines...)
		srv.Put(key, []byte(strings.Join(lines, "")))
	}
	run := func(every time.Duration) *daemon {
		return start(t, dir, quick("s3://bucket/logs"), sink, func(cfg *WatchConfig) {
			ofBucket(nil)(cfg)
			cfg.Objects.ListAll, cfg.Objects.LookBack = every, -time.Hour // every object is old at once
		})
	}
	read := func() { t.Helper(); until(t, "all lines", func() bool { return sink.count() == len(want) }) }
	d := run(time.Hour)
	until(t, "a listing", d.scanned)
	if got := pages.Swap(0); got != n/100-1 {
		t.Errorf("the first listing was continued %d times", got)
	}
	put(series + "11/30/b")
	read()
	put(series + "11/30/app.load-balancer.1late")
	for _, key := range []string{series + "12/01/a", "logs/AWSLogs/000000000000/2026/11/29/a", "logs/undated", series + "12/02/a"} {
		put(key)
		until(t, "lines of "+key, func() bool { return sink.count() == len(want)-3 })
	}
	if got := pages.Load(); got > 0 {
		t.Errorf("later listings were continued %d times", got)
	}
	d.end()
	for _, e := range d.store.Entries("file") {
		if e.Gone != 0 {
			t.Fatalf("%s counts as gone", e.Path)
		}
	}
	d = run(time.Hour)
	read()
	d.end()
	d = run(time.Millisecond)
	until(t, "a listing", d.scanned)
	put(series + "11/30/app.load-balancer.2late")
	read()
	d.end()
	sink.check(t, want)
}

// heap returns the bytes of reachable memory.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the first one may leave what pools hold
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// tracks returns the number of tracks.
func (d *daemon) tracks() int {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	return len(d.w.known.tracks)
}

// scanned reports whether d has made a scan.
func (d *daemon) scanned() bool {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	return d.w.scanned
}

// TestObjectRemovedAtStop: an object that is done when the reading has ended is still
// removed. The last commit comes after the context of Run is done.
func TestObjectRemovedAtStop(t *testing.T) {
	srv := s3test.New(t)
	srv.Put("logs/a", []byte("line\n"))
	d := start(t, t.TempDir(), quick("s3://bucket/logs"), &shelf{}, ofBucket(nil))
	until(t, "a finished object", func() bool { return d.w.Stats().Done == 1 })
	d.end()
	d.w.cfg.OnFinish = OnFinish{word: deleteFile}
	file := restored(d.store.Entries("file")[0])
	file.end.finishing = true
	if errs := d.w.disposeAll(t.Context(), []*track{file}); errs[0] != nil || srv.Get("logs/a") != nil {
		t.Errorf("%v; objects %v", errs[0], srv.Keys())
	}
}

// TestObjectsShared: each object belongs to one of several instances.
func TestObjectsShared(t *testing.T) {
	srv := s3test.New(t)
	var want []string
	for i := range 20 {
		lines := numbered(fmt.Sprint(i), 0, 10)
		want = append(want, lines...)
		srv.Put(fmt.Sprintf("logs/%d", i), []byte(strings.Join(lines, "")))
	}
	sink := &shelf{}
	for i := range 3 {
		before := sink.count()
		start(t, t.TempDir(), batch("s3://bucket/logs"), sink, func(cfg *WatchConfig) {
			ofBucket(nil)(cfg)
			cfg.Objects.Select = Share{Index: i, Of: 3}.Owns
		}).wait()
		if sink.count() == before {
			t.Errorf("shard %d has nothing", i)
		}
	}
	sink.check(t, want)
}

// TestObjectFaults: throttling, broken connections and answers that end early
// lose and double nothing.
func TestObjectFaults(t *testing.T) {
	srv := s3test.New(t)
	var want []string
	for i := range 8 {
		lines, data := zipped(fmt.Sprint("f", i), 30_000)
		want = append(want, lines...)
		srv.Put(fmt.Sprintf("logs/%d.gz", i), data)
	}
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(7, 7))
	srv.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		mu.Lock()
		n := r.IntN(8)
		mu.Unlock()
		switch n {
		case 0:
			s3test.Fail(w, http.StatusServiceUnavailable, "SlowDown")
		case 1:
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	})
	sink := &shelf{}
	start(t, t.TempDir(), batch("s3://bucket/logs"), sink, ofBucket(nil)).wait()
	sink.check(t, want)
}

// TestListingFails: a bucket that does not exist ends a run. A store that fails
// for a while does not end one that waits for objects, and nothing counts as
// gone.
func TestListingFails(t *testing.T) {
	srv := s3test.New(t)
	for _, set := range []Settings{batch("s3://no-bucket/a"), quick("s3://no-bucket/a")} {
		if err := start(t, t.TempDir(), set, &shelf{}, ofBucket(nil)).result(); objects.KindOf(err) != objects.NotFound || !strings.Contains(err.Error(), "s3://no-bucket/a") {
			t.Errorf("mode %s: got %v", set.Mode, err)
		}
	}
	want, data := zipped("a", 20_000)
	srv.Put("logs/a.gz", data)
	sink, dir := &shelf{exact: true}, t.TempDir()
	d := start(t, dir, quick("s3://bucket/logs"), sink, ofBucket(nil))
	until(t, "some lines", func() bool { return sink.count() > 100 })
	d.kill()
	srv.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		s3test.Fail(w, http.StatusInternalServerError, "InternalError")
		return true
	})
	d = start(t, dir, quick("s3://bucket/logs"), sink, ofBucket(func(s *objects.Store) { s.Patience = 10 * time.Millisecond }))
	until(t, "a failed listing", func() bool { return d.w.Health() != nil })
	srv.SetFault(nil)
	until(t, "all lines", func() bool { return sink.count() >= len(want) && d.w.Health() == nil })
	d.end()
	sink.check(t, want)
}
