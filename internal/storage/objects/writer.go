package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

const (
	// partSize is the length of all parts of an object but the last. Some
	// stores require equal lengths.
	partSize = 16 << 20
	// maxParts is the number of parts that every store allows.
	maxParts = 10_000
	// uploadsAtOnce is how many parts a writer uploads at the same time.
	uploadsAtOnce = 3
)

// A Writer writes one object. Its methods must not be called concurrently.
type Writer struct {
	store       *Store
	bucket, key string
	how         Put
	ctx         context.Context
	cancel      context.CancelFunc
	size        int // size of parts

	part   []byte // data that is not yet uploaded
	id     string // id of the upload; "": none was begun
	number int    // number of the last part
	slots  chan []byte
	ended  bool

	uploads sync.WaitGroup
	mu      sync.Mutex
	parts   []Part
	err     error // the first error; then nothing more is uploaded
}

// Create returns a writer of the object at path. Unless replace is set, the
// object must not exist: the writer fails if the object exists when it
// completes the upload.
func (s *Store) Create(ctx context.Context, path string, replace bool) (*Writer, error) {
	bucket, key := Split(path)
	if bucket == "" || key == "" {
		return nil, errors.New("missing bucket or key: want s3://BUCKET/KEY")
	}
	switch _, err := s.Head(ctx, path); {
	case err == nil && !replace:
		return nil, &Error{Kind: Exists}
	case err != nil && KindOf(err) != NotFound:
		return nil, err
	}
	w := &Writer{store: s, bucket: bucket, key: key, how: Put{New: !replace, Run: rand.Text()}, size: partSize, slots: make(chan []byte, uploadsAtOnce)}
	w.ctx, w.cancel = context.WithCancel(ctx)
	for range uploadsAtOnce {
		w.slots <- nil
	}
	return w, nil
}

// Upload makes the object at path from the bytes of r, at most size bytes,
// unless an earlier call with the same run has made it. Otherwise the object
// must not exist. If again is set, Upload first aborts the uploads of the key
// that an earlier call may have left.
func (s *Store) Upload(ctx context.Context, path, run string, again bool, size int64, r io.Reader) error {
	if again {
		if err := s.abortAll(ctx, path); err != nil {
			return err
		}
	}
	w, err := s.Create(ctx, path, false)
	if KindOf(err) == Exists {
		if o, err := s.Head(ctx, path); err == nil && o.Run == run {
			return nil
		}
	}
	if err != nil {
		return err
	}
	w.how.Run, w.size = run, max(partSize, int(size/maxParts+1))
	if _, err = io.Copy(w, r); err == nil {
		err = w.Complete()
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return nil
}

// Check returns an error if the uploads at path cannot be listed, for example
// because the bucket does not exist or the credentials are not valid for it.
func (s *Store) Check(ctx context.Context, path string) error {
	_, err := s.uploads(ctx, path)
	return err
}

// uploads returns the uploads of keys that begin with the key in path, or none
// if the store does not support the request.
func (s *Store) uploads(ctx context.Context, path string) (list []Upload, err error) {
	bucket, key := Split(path)
	err = s.retry(ctx, path, "list uploads", once(func() (err error) {
		list, err = s.Client.Uploads(ctx, bucket, key)
		return err
	}))
	if KindOf(err) == Unsupported {
		return nil, nil
	}
	return list, err
}

// abortAll aborts the uploads of the object at path, but not the uploads of
// longer keys that begin with its key.
func (s *Store) abortAll(ctx context.Context, path string) error {
	bucket, key := Split(path)
	list, err := s.uploads(ctx, path)
	for _, u := range list {
		if u.Key != key || err != nil {
			continue
		}
		err = s.retry(ctx, path, "abort", once(func() error { return s.Client.Abort(ctx, bucket, key, u.ID) }))
		if KindOf(err) == NoUpload {
			err = nil
		}
	}
	return err
}

// path returns the path of the object.
func (w *Writer) path() string { return Object{Bucket: w.bucket, Key: w.key}.Path() }

// Write implements io.Writer. It waits while too many parts are being uploaded.
func (w *Writer) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if err := w.failed(); err != nil {
			return n, err
		}
		k := min(len(p), w.size-len(w.part))
		w.part = append(w.part, p[:k]...)
		n, p = n+k, p[k:]
		if len(w.part) < w.size {
			continue
		}
		if err := w.upload(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// upload begins to upload the part.
func (w *Writer) upload() error {
	if w.id == "" {
		err := w.store.retry(w.ctx, w.path(), "create upload", once(func() (err error) {
			w.id, err = w.store.Client.Create(w.ctx, w.bucket, w.key, w.how)
			return err
		}))
		if err != nil {
			return w.fail(err)
		}
	}
	if w.number++; w.number > maxParts {
		return w.fail(fmt.Errorf("output larger than %d parts of %d MiB: divide the input with --shard, or use --output-dir", maxParts, w.size>>20))
	}
	number, data := w.number, w.part
	w.part = (<-w.slots)[:0]
	w.uploads.Go(func() {
		var part Part
		err := w.store.retry(w.ctx, w.path(), "upload part", once(func() (err error) {
			part, err = w.store.Client.UploadPart(w.ctx, w.bucket, w.key, w.id, number, data)
			return err
		}))
		w.slots <- data
		if err != nil {
			_ = w.fail(err)
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.parts = append(w.parts, part)
	})
	return nil
}

// fail records an error and returns the first one.
func (w *Writer) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return w.err
}

// failed returns the first error.
func (w *Writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Complete makes the object. If Complete fails, call Abort.
func (w *Writer) Complete() error {
	if w.id != "" && len(w.part) > 0 {
		if err := w.upload(); err != nil {
			return err
		}
	}
	w.uploads.Wait()
	if err := w.failed(); err != nil {
		return err
	}
	err := w.store.retry(w.ctx, w.path(), "complete", once(w.complete))
	switch KindOf(err) {
	case Exists, NoUpload: // the answer to an earlier attempt may have been lost
		if o, headErr := w.store.Head(w.ctx, w.path()); headErr == nil && o.Run == w.how.Run {
			err = nil
		}
	case Unsupported: // the store does not support the condition
		if w.how.New {
			w.how.New = false
			return w.completeLate()
		}
	}
	if err != nil {
		return w.fail(err)
	}
	w.ended = true
	w.cancel()
	return nil
}

// completeLate is Complete for a store without conditions. It does not notice
// another process that creates the object at the same moment.
func (w *Writer) completeLate() error {
	switch o, err := w.store.Head(w.ctx, w.path()); {
	case err == nil && o.Run != w.how.Run:
		return w.fail(&Error{Kind: Exists})
	case err != nil && KindOf(err) != NotFound:
		return w.fail(err)
	}
	return w.Complete()
}

// complete sends the request that makes the object.
func (w *Writer) complete() error {
	if w.id == "" {
		return w.store.Client.Put(w.ctx, w.bucket, w.key, w.part, w.how)
	}
	slices.SortFunc(w.parts, func(a, b Part) int { return a.Number - b.Number })
	return w.store.Client.Complete(w.ctx, w.bucket, w.key, w.id, w.parts, w.how)
}

// abortTime is how long Abort takes at most.
const abortTime = 10 * time.Second

// Abort gives up the object and removes what was uploaded. After Complete has
// succeeded it does nothing.
func (w *Writer) Abort() error {
	if w.ended {
		return nil
	}
	w.ended = true
	w.cancel()
	w.uploads.Wait()
	_ = w.fail(errors.New("output aborted"))
	if w.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), abortTime)
	defer cancel()
	err := w.store.retry(ctx, w.path(), "abort", once(func() error {
		return w.store.Client.Abort(ctx, w.bucket, w.key, w.id)
	}))
	if KindOf(err) == NoUpload {
		return nil
	}
	return err
}
