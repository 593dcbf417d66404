package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/urlfold/urlfold/internal/compress"
	"github.com/urlfold/urlfold/pipeline"
)

// This file is structured in the following way:
//
//   - stream: the outputs of one lane, or of all. Which one takes a batch.
//   - Ending files: rotation, finished lanes.
//   - Marks: how far the outputs have come, for the progress of the source.

// A stream is a sequence of files: of one lane, of one source, or of all, as the
// template has it.
type stream struct {
	key    string
	known  bool // v is known: not before the lane is there
	ready  bool // see prepare
	v      values
	active *output   // takes the next batch; nil: a new one does
	sealed []*output // no more is written to them, and they wait for their names
	begun  int       // outputs that the stream has had in this process

	blocked error // why there was no output for the last batch
}

// outputs returns all outputs there are. The caller holds mu.
func (s *log) outputs() []*output {
	s.all = s.all[:0]
	for _, st := range s.streams {
		s.all = append(s.all, st.sealed...)
		if st.active != nil {
			s.all = append(s.all, st.active)
		}
	}
	return s.all
}

// keyOf returns the key of the stream of l, which is Mark.Lane of its outputs.
func (s *log) keyOf(l *pipeline.Lane) string {
	switch {
	case l == nil:
		return ""
	case s.tmpl.perLane:
		return l.ID()
	case s.tmpl.bySrc:
		return "source " + valuesOf(l, s.cfg.SourceNames).source
	}
	return ""
}

// grows reports whether there is one file that is never finished. It has its final
// name from the start, or as soon as there is a cut that covers it.
func (s *log) grows() bool { return !s.tmpl.perLane && !s.tmpl.counts }

// current returns the open output for n bytes of b; it may be broken. The caller
// holds mu.
func (s *log) current(b *pipeline.Batch, n int) (*output, error) {
	st := s.streamOf(laneOf(b))
	if o := st.active; o != nil && o.err == nil && s.isFullFor(o, n) {
		s.rotate(st)
	}
	o, err := s.open(st)
	st.blocked = err
	return o, err
}

func laneOf(b *pipeline.Batch) *pipeline.Lane {
	if b == nil {
		return nil
	}
	return b.Lane
}

// isFullFor reports whether o is to end before n more bytes. It does not end within
// an oversize record.
func (s *log) isFullFor(o *output, n int) bool {
	r := &s.cfg.Rotate
	return o.size > 0 && !o.inRecord && (r.Size > 0 && o.size+int64(n) > int64(r.Size) || r.Records > 0 && o.records >= r.Records)
}

// streamOf returns the stream of l, which it makes if need be.
func (s *log) streamOf(l *pipeline.Lane) *stream {
	key := s.keyOf(l)
	st := s.streams[key]
	if st == nil {
		st = &stream{key: key}
		s.streams[key] = st
	}
	if !st.known {
		st.known, st.v = true, valuesOf(l, s.cfg.SourceNames)
		st.v.seq = s.tmpl.lastSeq(st.v)
	}
	return st
}

// open returns the active output of st, open. Without one it goes on with what
// another process has left, or begins a new one.
func (s *log) open(st *stream) (*output, error) {
	if err := s.prepare(st); err != nil {
		return nil, err
	}
	if st.active == nil {
		if err := s.begin(st); err != nil {
			return nil, err
		}
	}
	if o := st.active; o.err == nil {
		if err := s.ensure(o); err != nil {
			return nil, err
		}
	}
	return st.active, nil
}

// prepare handles, once for each lane, what another process has left of files that
// rotate. Open has done so for what is not of lanes.
func (s *log) prepare(st *stream) error {
	if st.ready || !s.tmpl.counts || !s.tmpl.perLane {
		return nil
	}
	if err := s.adopt(st, &st.v); err != nil {
		return err
	}
	st.ready = true
	return nil
}

// begin makes the active output of st.
func (s *log) begin(st *stream) error {
	if !s.cfg.ExactlyOnce && !s.tmpl.counts {
		if o, err := s.goOn(st); o != nil || err != nil {
			st.active = o
			return err
		}
	}
	st.v.time = time.Now()
	st.v.seq++
	first := s.tmpl.path(st.v)
	final := first
	for n := 2; !s.free(final); n++ {
		if n > 1e6 {
			return fmt.Errorf("%s: no name like this is free", first)
		}
		final = numbered(first, n)
	}
	st.active = &output{final: final, name: final + partSuffix, opened: st.v.time}
	if s.grows() && !s.cfg.ExactlyOnce {
		st.active.name = final
	}
	s.taken[final] = true
	st.begun++
	return nil
}

// goOn returns the unfinished output that another process has left for st, without
// its torn end; nil if there is none.
func (s *log) goOn(st *stream) (*output, error) {
	final := s.tmpl.path(st.v)
	name := final + partSuffix
	if s.grows() {
		name = final
	}
	fi, err := os.Stat(name)
	switch {
	case s.taken[final] || errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	size, err := s.cutTorn(name)
	if err != nil {
		return nil, err
	}
	s.taken[final] = true
	st.begun++
	return &output{final: final, name: name, made: true, size: size, synced: size, opened: fi.ModTime()}, nil
}

// free reports whether an output may be called final. What is unfinished and belongs
// to nobody is begun anew.
func (s *log) free(final string) bool {
	if s.taken[final] {
		return false
	}
	_, err := os.Lstat(final)
	return errors.Is(err, fs.ErrNotExist)
}

// seal ends the active output of st. The caller holds mu.
func (s *log) seal(st *stream) {
	st.active.sealed = true
	st.sealed = append(st.sealed, st.active)
	st.active = nil
}

// rotate seals the active output of st because it is full or old.
func (s *log) rotate(st *stream) {
	s.seal(st)
	s.counts.rotations.Add(1)
	s.signal()
}

// rotateDue seals what has come to its time.
func (s *log) rotateDue() {
	every := s.cfg.Rotate.Every
	if every == 0 {
		return
	}
	now := time.Now().UTC().Truncate(every)
	for _, st := range s.streams {
		if o := st.active; o != nil && o.size > 0 && o.opened.UTC().Truncate(every).Before(now) && !o.inRecord {
			s.rotate(st)
		}
	}
}

// publishAll gives the files their names that wait for them, and keeps the errors.
func (s *log) publishAll() {
	for _, st := range s.streams {
		_ = s.publishSealed(st) // Health tells it
		if o := st.active; o != nil && s.grows() && o.young() && o.stored > 0 {
			o.unnamed = s.rename(o)
		}
	}
}

// publishSealed names the sealed outputs of st, in order. With ExactlyOnce an output
// keeps its unfinished name until a cut covers all of it: under its final name
// nothing is ever cut off.
func (s *log) publishSealed(st *stream) error {
	for len(st.sealed) > 0 {
		o := st.sealed[0]
		if o.err != nil || len(o.pending) > 0 || s.cfg.ExactlyOnce && o.stored < o.size {
			return nil
		}
		if o.unnamed = s.rename(o); o.unnamed != nil {
			return o.unnamed
		}
		s.shut(o)
		s.retired = append(s.retired, o.final)
		s.counts.published.Add(1)
		st.sealed = st.sealed[1:]
	}
	return nil
}

// A request asks the goroutine of the rounds to finish a lane.
type request struct {
	lane  *pipeline.Lane
	reply chan error
}

// Finish implements [pipeline.Finisher]. The output of the lane gets its final name;
// a lane without records gets an empty output.
func (s *log) Finish(ctx context.Context, l *pipeline.Lane) error {
	if !s.tmpl.perLane {
		return nil
	}
	r := request{l, make(chan error, 1)}
	s.mu.Lock()
	if s.closed || !s.opened {
		s.mu.Unlock()
		return errNotOpen
	}
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	s.signal()
	select {
	case err := <-r.reply:
		return err
	case <-s.over:
		return errNotOpen
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *log) finishAll(requests []request) {
	for _, r := range requests {
		err := s.finish(r.lane)
		if err != nil {
			err = fmt.Errorf("file sink: %w", err)
		}
		r.reply <- err
	}
}

// finish is called when all of the lane is durable, and a cut that says so is
// stored.
func (s *log) finish(l *pipeline.Lane) error {
	key := s.keyOf(l)
	if s.streams[key] == nil && (s.finished[key] || s.isThere(l)) {
		return nil
	}
	st := s.streamOf(l)
	if err := s.prepare(st); err != nil {
		return err
	}
	if st.active == nil && st.begun == 0 {
		if _, err := s.open(st); err != nil {
			return err
		}
	}
	if o := st.active; o != nil {
		if err := s.complete(o); err != nil {
			return err
		}
		s.seal(st)
	}
	for _, o := range st.sealed {
		if o.err != nil || len(o.pending) > 0 {
			return fmt.Errorf("%s: is not durable yet", o.name)
		}
		o.stored = o.size
	}
	if err := s.publishSealed(st); err != nil {
		return err
	}
	delete(s.streams, key)
	return nil
}

// isThere reports whether there is a finished output of l and no unfinished one: a
// process before this one was told that the lane is finished, but not in time to
// store it.
func (s *log) isThere(l *pipeline.Lane) bool {
	v := valuesOf(l, s.cfg.SourceNames)
	finished, unfinished := s.tmpl.files(&v)
	return len(finished) > 0 && (s.cfg.ExactlyOnce || len(unfinished) == 0)
}

// complete makes a sound file of an output without records: nothing at all is no
// gzip file.
func (s *log) complete(o *output) error {
	if o.err != nil {
		return o.err
	}
	if o.size > 0 {
		return nil
	}
	if err := s.ensure(o); err != nil {
		return err
	}
	if s.format != compress.Plain {
		pack, err := compress.NewPack(s.format, s.level)
		if err != nil {
			return err
		}
		if err := s.write(o, &held{bytes: pack(nil, nil)}); err != nil {
			s.breaks(o, err)
			return err
		}
	}
	if err := s.sync(o); err != nil {
		o.suspect = !isFull(err)
		s.breaks(o, err)
		return err
	}
	o.synced = o.size
	return nil
}

// Marks implements [pipeline.Marker]. The path of a mark is the final one; the file
// may still have its unfinished name. The outputs of a stream come in the order in
// which they were begun.
func (s *log) Marks(dst []pipeline.Mark) []pipeline.Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retiring = len(s.retired)
	for key, st := range s.streams {
		for _, o := range st.sealed {
			dst = o.mark(dst, key)
		}
		if st.active != nil {
			dst = st.active.mark(dst, key)
		}
	}
	return dst
}

// mark appends the mark of o. What is empty needs none: it is begun anew.
func (o *output) mark(dst []pipeline.Mark, key string) []pipeline.Mark {
	o.marked = o.synced
	if o.synced == 0 {
		return dst
	}
	return append(dst, pipeline.Mark{Lane: key, Path: o.final, Length: o.synced})
}

// CutStored implements [pipeline.CutObserver]: sealed files that the cut covers may
// have their names now.
func (s *log) CutStored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.outputs() {
		o.stored = o.marked
	}
	for _, final := range s.retired[:s.retiring] {
		delete(s.taken, final)
	}
	s.retired, s.retiring = slices.Delete(s.retired, 0, s.retiring), 0
	s.signal()
}
