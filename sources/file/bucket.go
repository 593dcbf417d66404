package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
)

// Objects lets a watcher read the objects of buckets instead of files.
// Settings.Include holds their paths, as on the command line. Start,
// MaxOpenFiles, IdleClose, FingerprintBytes, RotateWait and DamageAfter of the
// settings have no effect, and OnFinish.MoveTo is not possible.
type Objects struct {
	// Connect finds the credentials and returns the store. It is called until it
	// succeeds.
	Connect func() (*objects.Store, error)
	// Select is the same as in Config.
	Select func(rel string) bool
	// ListAll, if not 0, is how often to list all objects. The listings between skip
	// objects: see [objects.NewOrder].
	ListAll  time.Duration
	LookBack time.Duration
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
	cfg      *WatchConfig
	finished *finished
	// tracked returns the ids of the files that have tracks, and how many files are to be
	// read.
	tracked func() (ids map[fileID]bool, busy int)

	// Used by scan only.
	all   []fileState     // what the last scan has returned
	rest  []objects.Found // of the last listing: objects to return later
	order *objects.Order  // nil: list all objects
	whole time.Time       // when to list all objects again, if order is not nil

	waiting, waitingBytes atomic.Int64 // of rest

	mu      sync.Mutex      // the mutex of the watcher is never locked while it is held
	ctx     context.Context // context of the last scan; ends the requests of open objects
	store   *objects.Store
	due     time.Time                  // time of the next listing
	changed bool                       // an object has changed since the last listing began
	known   map[fileID]*objects.Object // objects of the files in all
}

// window is how many objects are to be read at a time. Each takes about 2 KB, an object
// of rest 0.3 KB.
const window = 1000

// scan implements [storage]. It lists the objects if an object was found to
// have changed, or if the poll interval has passed and all listed objects have
// been returned; with a queue, always. If the listing fails, scan returns the
// objects of the previous listing. It leaves out finished objects, and objects
// that are to be read later.
func (b *bucket) scan(ctx context.Context) (all []fileState, hidden map[string]error) {
	tracked, busy := b.tracked()
	b.mu.Lock()
	b.ctx = ctx
	due := b.Queue != nil || b.changed || len(b.rest) == 0 && !time.Now().Before(b.due)
	if b.changed || !time.Now().Before(b.whole) {
		b.order = nil
	}
	b.changed = false
	b.mu.Unlock()
	if due {
		if hidden = b.relist(ctx, tracked); len(hidden) > 0 {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.changed = true // list again
			return b.all, hidden
		}
	}
	b.all = slices.DeleteFunc(b.all, func(s fileState) bool { return b.finished.has(s.id) && b.forget(s.id) })
	b.mu.Lock()
	defer b.mu.Unlock()
	for ; len(b.rest) > 0 && (busy < window || b.Queue != nil); busy++ {
		f := b.rest[0]
		b.rest[0], b.rest = objects.Found{}, b.rest[1:]
		if s := stateOf(&f.Object); b.known[s.id] == nil { // otherwise two paths name it
			b.all, b.known[s.id] = append(b.all, s.at(f.Path(), f.Rel)), &f.Object
		}
		b.waiting.Add(-1)
		b.waitingBytes.Add(-f.Size)
	}
	if len(b.rest) == 0 {
		b.rest = nil // free it
	}
	return b.all, map[string]error{}
}

// forget removes an object from the known ones, and returns true.
func (b *bucket) forget(id fileID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.known, id)
	return true
}

// relist lists the objects: all of them or, if b.order is not nil, the objects that b.order
// does not skip. It returns which paths cannot be listed.
func (b *bucket) relist(ctx context.Context, tracked map[fileID]bool) (hidden map[string]error) {
	var all []fileState
	var rest []objects.Found
	bytes, known, whole := int64(0), map[fileID]*objects.Object{}, b.order == nil
	switch {
	case !whole: // skipped objects stay known
		all, known = b.all, maps.Clone(b.known)
	case b.ListAll > 0:
		b.order, b.whole = objects.NewOrder(b.LookBack), time.Now().Add(b.ListAll)
	}
	hidden = b.list(ctx, func(f objects.Found) {
		s := stateOf(&f.Object)
		switch {
		case known[s.id] != nil: // two paths name it
		case b.finished.list(s.id):
			if b.Queue != nil {
				b.Queue.Done(&f.Object, "")
			}
		case tracked[s.id]:
			all, known[s.id] = append(all, s.at(f.Path(), f.Rel)), &f.Object
		default:
			rest = append(rest, f)
			bytes += f.Size
		}
	})
	if len(hidden) > 0 {
		return hidden
	}
	if whole && b.Queue == nil { // a queue does not list what is done
		b.finished.end(time.Now())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.due = time.Now().Add(b.cfg.PollInterval); b.cfg.Batch() {
		b.due = b.due.AddDate(1000, 0, 0) // a batch run reads only the objects that exist now
	}
	b.all, b.rest, b.known = all, rest, known
	b.waiting.Store(int64(len(rest)))
	b.waitingBytes.Store(bytes)
	return nil
}

// tracked implements bucket.tracked. busy does not count files that wait for
// another attempt after an error.
func (w *watcher) tracked() (ids map[fileID]bool, busy int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids = make(map[fileID]bool, len(w.known.tracks))
	for _, t := range w.known.tracks {
		ids[t.sight.file.id] = true
		if t.life == open && t.trouble.tries == 0 {
			busy++
		}
	}
	return ids, busy
}

// list calls visit for the objects to read. It returns which paths cannot be listed.
func (b *bucket) list(ctx context.Context, visit func(objects.Found)) (hidden map[string]error) {
	store, _ := b.connection()
	for _, path := range b.cfg.Include {
		if store == nil {
			s, err := b.Connect()
			if err != nil {
				return map[string]error{path: err}
			}
			b.mu.Lock()
			store, b.store = s, s
			b.mu.Unlock()
		}
		if b.Queue != nil {
			for _, f := range b.Queue.Listed() {
				visit(f)
			}
			return nil
		}
		_, err := store.Find(ctx, path, b.order, func(f objects.Found) {
			if !excludes(b.cfg.Exclude, f.Rel, f.Path()) && (b.Select == nil || b.Select(f.Rel)) {
				visit(f)
			}
		})
		if err != nil {
			return map[string]error{path: err}
		}
	}
	return nil
}

// Inputs returns what [Settings.Inputs] returns, for objects.
func (o *Objects) Inputs(s *Settings) map[string]string {
	b := bucket{Objects: *o, cfg: &WatchConfig{Settings: *s}}
	inputs := map[string]string{}
	if hidden := b.list(context.Background(), func(f objects.Found) { inputs[f.Path()] = f.Rel }); len(hidden) > 0 {
		return nil
	}
	return inputs
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
		b.changed = true
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
