package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file moves the finished files of a log to a bucket. An unfinished output is a
// file, because the parts of an incomplete object must have at least 5 MiB: records
// would wait long to become durable, and the object could not be truncated to a
// checkpoint.
//
//	NAME.part ──▶ NAME ──▶ uploaded ──▶ NAME is marked, then emptied
//
// The empty file keeps its name from being used again. A process that dies before
// the mark uploads the file again and finds the object, which has the run id of
// the file in its metadata.

// A Bucket is where a log stores its finished files as objects.
type Bucket struct {
	// Connect finds the credentials and returns the store.
	Connect func() (*objects.Store, error)
	// Folder is the folder of the files. It contains nothing else.
	Folder string
	// Prefix is the path of the objects, to which the paths of the files below
	// Folder are appended: s3://BUCKET/.
	Prefix string
}

const (
	// shippers is the number of objects that are uploaded at the same time.
	shippers = 4
	// shipLarge is the size at which a file is uploaded alone, because its
	// upload takes the memory of four parts.
	shipLarge = 16 << 20
	// markedMode is the bit of the permissions that marks a file whose object is
	// complete.
	markedMode fs.FileMode = 0o100
	// checkKey is the key of the request that tests whether the bucket permits
	// uploads.
	checkKey = "urlfold-check"
	// forgetMarked is how long a marked file is kept.
	forgetMarked = 24 * time.Hour
)

// A shipper is a log that uploads its finished files to a bucket.
type shipper struct {
	engine.Sink // the log
	cfg         LogConfig
	log         *log
	store       *objects.Store
	ctx         context.Context // context of the requests
	cancel      context.CancelFunc
	workers     sync.WaitGroup
	large       sync.Mutex
	closed      chan struct{}

	mu    sync.Mutex
	more  *sync.Cond // queue has grown, or the shipper is closed
	queue []shipment
	ended bool
	err   error // error of the last attempt
}

// A shipment is a file to upload.
type shipment struct {
	path  string
	again bool // an upload of an earlier attempt may be open
}

// newShipper returns a log that ships its files to cfg.Bucket.
func newShipper(cfg LogConfig) (*shipper, error) {
	s := &shipper{cfg: cfg, closed: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	cfg.Bucket, cfg.published = nil, func(path string) { s.add(shipment{path: path}) }
	inner, err := NewLog(cfg)
	if err != nil {
		return nil, err
	}
	s.Sink = inner
	s.log = inner.(*log)
	return s, nil
}

// Parts returns the log, for engine.As.
func (s *shipper) Parts() []any { return []any{s.Sink} }

// Open implements [engine.Sink]. It finds the files that the last process has not
// uploaded.
func (s *shipper) Open(ctx context.Context) (err error) {
	if s.store, err = s.cfg.Bucket.Connect(); err != nil {
		return err
	}
	switch err := s.store.Check(ctx, s.cfg.Bucket.Prefix+checkKey); objects.KindOf(err) {
	case objects.Temporary, objects.Unreachable: // the folder takes the outputs until it answers
		s.log.log.Warn("bucket not available, retrying", "path", s.cfg.Bucket.Prefix, "error", err)
	default:
		if err != nil {
			return fmt.Errorf("%s: %w", s.cfg.Bucket.Prefix, err)
		}
	}
	if err := s.find(); err != nil {
		return err
	}
	if err := s.Sink.Open(ctx); err != nil {
		return err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for range shippers {
		s.workers.Go(s.work)
	}
	return nil
}

// find queues the finished files, and removes old marked files. If the files
// are numbered, the marked files stay, because they hold the last number.
func (s *shipper) find() error {
	return filepath.WalkDir(s.cfg.Bucket.Folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !d.Type().IsRegular() || strings.HasSuffix(path, partSuffix) || !s.cfg.Makes(path):
			return nil
		}
		fi, err := d.Info()
		switch {
		case err != nil:
			return err
		case fi.Mode()&markedMode == 0:
			s.add(shipment{path, true})
		case fi.Size() > 0:
			return mark(path)
		case time.Since(fi.ModTime()) > forgetMarked && !s.log.tmpl.has(seqNumber):
			return disk.Remove(path)
		}
		return nil
	})
}

// add queues a file.
func (s *shipper) add(sh shipment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, sh)
	s.more.Signal()
}

// work uploads files until the shipper is closed and the queue is empty. When the
// shipper is closed, a file that cannot be uploaded is left to the next process.
func (s *shipper) work() {
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.ended {
			s.more.Wait()
		}
		if len(s.queue) == 0 || s.ended && s.err != nil {
			s.mu.Unlock()
			return
		}
		sh := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		err := s.ship(sh)
		s.mu.Lock()
		if err != nil && s.err == nil && s.ctx.Err() == nil {
			s.log.log.Warn("upload of finished output failed, retrying", "path", sh.path, "error", err)
		}
		if s.err = err; err != nil {
			s.queue = append(s.queue, shipment{sh.path, true})
		}
		s.mu.Unlock()
		if err != nil {
			select {
			case <-time.After(lastRetry):
			case <-s.closed:
			}
		}
	}
}

// ship uploads a file. If another program has already written an object with the key
// of the file, ship adds a number to the key.
func (s *shipper) ship(sh shipment) error {
	f, err := os.Open(sh.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if fi.Size() > shipLarge {
		s.large.Lock()
		defer s.large.Unlock()
	}
	rel, err := filepath.Rel(s.cfg.Bucket.Folder, sh.path)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	run := fmt.Sprintf("%x-%x", fi.ModTime().UnixNano(), fi.Size()) // identifies the finished file, which no longer changes
	for n := 1; ; n++ {
		to := s.cfg.Bucket.Prefix + numbered(rel, n)
		err := s.store.Upload(s.ctx, to, run, sh.again, fi.Size(), f)
		switch {
		case objects.KindOf(err) == objects.Exists:
			s.log.log.Warn("object exists, storing the output under another key", "path", to)
			if _, err := f.Seek(0, 0); err != nil {
				return err
			}
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", to, err)
		}
		return mark(sh.path)
	}
}

// mark marks a file whose object is complete, and empties the file. The mark is
// durable before the file is emptied, because an empty file without the mark
// would count as an output.
func mark(path string) error {
	f, err := disk.Open(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // already synced
	if err := errors.Join(f.Chmod(0o600|markedMode), f.Sync()); err != nil {
		return err
	}
	return f.Truncate(0)
}

// Close implements [engine.Sink]. After a run that was drained, it waits until all
// finished files are objects.
func (s *shipper) Close(ctx context.Context) error {
	err := s.Sink.Close(ctx)
	if s.cancel == nil || s.ended { // not opened, or called twice
		return err
	}
	defer s.cancel()
	stop := context.AfterFunc(ctx, s.cancel)
	defer stop()
	s.mu.Lock()
	s.ended, s.err = true, nil
	close(s.closed)
	s.more.Broadcast()
	s.mu.Unlock()
	s.workers.Wait()
	if len(s.queue) > 0 && s.err != nil {
		err = errors.Join(err, fmt.Errorf("%d finished outputs not uploaded; the files are in %s: %w", len(s.queue), s.cfg.Bucket.Folder, s.err))
	}
	return err
}

// Health implements [engine.Healther].
func (s *shipper) Health() error {
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	return errors.Join(s.log.Health(), err)
}

// CheckConnect checks that the folder can be written, and that the bucket can be
// listed.
func (s *shipper) CheckConnect(ctx context.Context) error {
	store, err := s.cfg.Bucket.Connect()
	if err != nil {
		return err
	}
	if err := store.Check(ctx, s.cfg.Bucket.Prefix+checkKey); err != nil {
		return fmt.Errorf("%s: %w", s.cfg.Bucket.Prefix, err)
	}
	return disk.Creatable(s.cfg.Bucket.Folder)
}

// Interface guard.
var _ engine.Healther = (*shipper)(nil)
