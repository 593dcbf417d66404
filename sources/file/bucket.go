package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
)

// Objects lets a watcher read the objects of buckets instead of files. Settings.Include
// names them as on the command line. Start, MaxOpenFiles, IdleClose, FingerprintBytes,
// RotateWait and DamageAfter of the settings have no effect, and OnFinish.MoveTo is not
// possible.
type Objects struct {
	// Connect finds the credentials and returns the store. It is called until it
	// succeeds.
	Connect func() (*objects.Store, error)
	// Select is the same as in Config.
	Select func(rel string) bool
	// Queue, if not nil, says which objects to read, instead of Settings.Include.
	Queue Queue
	// News, if not nil, holds a value when Queue has changed. Its capacity must be
	// 1.
	News chan struct{}
}

// A Queue holds the objects that messages name. Its methods are called from
// several goroutines and must not block.
type Queue interface {
	// Listed returns the objects to read now.
	Listed() []objects.Found
	// Done reports that all records of a listed object are durable, or will never
	// be read. damage is the text of its verdict, or empty. Done may be called
	// several times.
	Done(o *objects.Object, damage string)
	// Changed reports that a listed object no longer exists in this version.
	Changed(o *objects.Object)
}

// queued reports whether messages name the objects to read.
func (cfg *WatchConfig) queued() bool { return cfg.Objects != nil && cfg.Objects.Queue != nil }

// settle replaces the settings that have no meaning for objects.
func (s *Settings) settle() {
	s.Start, s.MaxOpenFiles, s.RotateWait = startBegin, 0, 0
	if s.Batch() {
		s.PollInterval = min(s.PollInterval, time.Second) // the bucket is listed once, unless an object changes
	}
}

// A bucket is the [storage] of a watcher that reads objects. The id of an object is a
// hash of its bucket, its key and its ETag, so a replaced object is another file, but
// an object that is written again with the same content is the same file.
type bucket struct {
	Objects
	cfg *WatchConfig

	mu    sync.Mutex
	ctx   context.Context // context of the last scan; ends the requests of open objects
	store *objects.Store
	due   time.Time                  // of the next listing
	all   []fileState                // the last listing
	known map[fileID]*objects.Object // its objects
}

// scan implements [storage]. It lists the objects if the poll interval has passed,
// or if one was found changed. If the listing fails, it returns the previous one.
func (b *bucket) scan(ctx context.Context) (all []fileState, hidden map[string]error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ctx = ctx
	if b.Queue == nil && time.Now().Before(b.due) {
		return b.all, map[string]error{}
	}
	list, hidden := b.list(ctx)
	if len(hidden) > 0 {
		return b.all, hidden
	}
	if b.due = time.Now().Add(b.cfg.PollInterval); b.cfg.Batch() {
		b.due = b.due.AddDate(1000, 0, 0) // the current objects are the input
	}
	b.all, b.known = nil, make(map[fileID]*objects.Object, len(list))
	for i := range list {
		o := &list[i].Object
		s := stateOf(o)
		if b.known[s.id] == nil {
			b.all, b.known[s.id] = append(b.all, s.at(o.Path(), list[i].Rel)), o
		}
	}
	slices.SortFunc(b.all, func(a, b fileState) int { return strings.Compare(a.path, b.path) })
	return b.all, map[string]error{}
}

// list returns the objects to read, or which paths cannot be listed. The caller
// holds mu.
func (b *bucket) list(ctx context.Context) (all []objects.Found, hidden map[string]error) {
	for _, path := range b.cfg.Include {
		if b.store == nil {
			s, err := b.Connect()
			if err != nil {
				return nil, map[string]error{path: err}
			}
			b.store = s
		}
		if b.Queue != nil {
			return b.Queue.Listed(), nil
		}
		list, _, err := b.store.Find(ctx, path)
		if err != nil {
			return nil, map[string]error{path: err}
		}
		all = append(all, list...)
	}
	return slices.DeleteFunc(all, func(f objects.Found) bool {
		return excludes(b.cfg.Exclude, f.Rel, f.Path()) || b.Select != nil && !b.Select(f.Rel)
	}), nil
}

// stateOf returns the state of an object, without its path.
func stateOf(o *objects.Object) (s fileState) {
	h := xxh3.HashString128(o.Bucket + "\x00" + o.Key + "\x00" + o.ETag)
	s.id, s.size = fileID{h.Hi, h.Lo}, o.Size
	return s
}

// stat implements [storage].
func (b *bucket) stat(ctx context.Context, path, rel string) (s fileState, err error) {
	if b.Queue != nil { // the listing contains all objects to read
		return s, fs.ErrNotExist
	}
	store, _ := b.connection()
	o, err := store.Head(ctx, path)
	if objects.KindOf(err) == objects.NotFound {
		err = fs.ErrNotExist
	}
	if err != nil {
		return s, err
	}
	return stateOf(&o).at(path, rel), nil
}

// connection returns the store, and the context for requests about open objects.
func (b *bucket) connection() (*objects.Store, context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.store, b.ctx
}

// open implements [storage].
func (b *bucket) open(_ string, id fileID) (handle, error) {
	b.mu.Lock()
	o := b.known[id]
	b.mu.Unlock()
	if o == nil {
		return nil, errMoved
	}
	r, err := b.reader(o)
	if err != nil { // an interface with a nil pointer would not be nil
		return nil, err
	}
	return &objectFile{r, b, o}, nil
}

// reader returns a reader of o.
func (b *bucket) reader(o *objects.Object) (*objects.Reader, error) {
	store, ctx := b.connection()
	r, err := store.Open(ctx, *o)
	return r, b.note(o, err)
}

// note makes the next scan list the objects again if err says that o has
// changed.
func (b *bucket) note(o *objects.Object, err error) error {
	if objects.KindOf(err) == objects.Changed {
		if b.Queue != nil {
			b.Queue.Changed(o)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.due = time.Time{}
	}
	return err
}

// remove implements [storage].
func (b *bucket) remove(ctx context.Context, path string) error {
	store, _ := b.connection()
	return store.Remove(ctx, path)
}

// bases implements [storage].
func (b *bucket) bases() []string { return nil }

// fixed implements [storage].
func (b *bucket) fixed() bool { return true }

// An objectFile is the [handle] of an object.
type objectFile struct {
	*objects.Reader
	bucket *bucket
	object *objects.Object
}

// Read implements io.Reader.
func (f *objectFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	return n, f.bucket.note(f.object, err)
}

func (f *objectFile) next(p []byte, off int64) (int, error) {
	if _, err := f.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	return f.Read(p)
}

func (f *objectFile) stat() (fileState, error)  { return stateOf(f.object), nil }
func (f *objectFile) born() int64               { return 0 }
func (f *objectFile) perm() (fs.FileMode, bool) { return 0, false }
func (f *objectFile) fixed() bool               { return true }

func (f *objectFile) again() (io.ReadSeeker, func() error, error) {
	r, err := f.bucket.reader(f.object)
	if err != nil {
		return nil, nil, err
	}
	return r, r.Close, nil
}

// settle tells the queue of objects, if there is one, that nothing is left to do
// for t. damage is as in [Queue]. The caller holds mu.
func (w *watcher) settle(t *track, damage string) {
	b, _ := w.store.(*bucket)
	if !w.cfg.queued() {
		return
	}
	b.mu.Lock()
	o := b.known[t.sight.file.id]
	b.mu.Unlock()
	if o != nil {
		b.Queue.Done(o, damage)
	}
}

// damage returns the text of the verdict on t if its file is damaged.
func (t *track) damage() string {
	if t.end.state == checkpoint.Damaged {
		return t.end.text
	}
	return ""
}

// refuse gives up a track of a queue whose object cannot be read. If nothing of
// the object was read, the track is forgotten, so that another message can ask
// for the object again. Otherwise the next poll ends its lane. The caller holds
// mu.
func (w *watcher) refuse(t *track) {
	w.log.Warn("cannot read file", "path", t.path, "error", t.trouble.failure)
	delete(w.broken, t.path)
	w.settle(t, compress.Unreadable.String()+": "+t.trouble.failure)
	w.bound.unbind(t)
	if t.trouble.tries = 0; t.at().off == 0 && t.lane == nil {
		w.news.unreadable(t.path, t.trouble.failure)
		t.life, t.sight.gone = over, time.Unix(1, 0)
	}
}

// lasting reports whether the error of a request persists until somebody repairs its
// cause.
func lasting(err error) bool {
	var e *objects.Error
	return !errors.As(err, &e) || e.Kind.Lasting()
}

// Interface guards.
var (
	_ storage = (*bucket)(nil)
	_ handle  = (*objectFile)(nil)
)
