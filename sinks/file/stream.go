package file

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file has three parts:
//
//   - stream: the outputs of one lane, or of several. Which output takes a
//     batch.
//   - Ending files: rotation and finished lanes.
//   - Extents: the lengths of the outputs, for the checkpoint of the source.

// A stream is a sequence of files for one lane, one source or all lanes,
// depending on the template.
type stream struct {
	key    string
	known  bool // v is set, which requires a lane
	ready  bool // prepare has run
	v      values
	active *output     // takes the next batch; nil: a new output is needed
	sealed []*output   // complete outputs that wait for their final names
	begun  int         // number of outputs that the stream has had in this process
	allow  fs.FileMode // permissions that the input of the last record allows; see narrow

	blocked error // why the last batch could not get an output
}

// A streamTable holds the streams: it recovers their outputs, selects the
// output for each batch, and gives complete outputs their final names.
type streamTable struct {
	cfg    *LogConfig
	log    *slog.Logger
	tmpl   *template
	format compress.Format
	files  *diskFiles
	notify bell
	counts *counts

	// The fields below are guarded by log.mu.
	streams  map[string]*stream
	taken    map[string]bool  // final paths of the outputs of streams, and the paths in retired
	retired  []string         // final paths of finished outputs that a stored cut may still contain
	retiring int              // length of the prefix of retired that the last call of Extents no longer reported
	finished map[string]bool  // streams that are finished according to the checkpoint
	mended   map[string]place // where mendGrowing has truncated outputs, by final path
	clock    uint64           // incremented at each use of an output
	all      []*output        // scratch space of outputs
}

// outputs returns all outputs. The caller holds mu.
func (tab *streamTable) outputs() []*output {
	tab.all = tab.all[:0]
	for _, st := range tab.streams {
		tab.all = append(tab.all, st.sealed...)
		if st.active != nil {
			tab.all = append(tab.all, st.active)
		}
	}
	return tab.all
}

// keyOf returns the key of the stream of l. It is Extent.Lane of its outputs.
func (tab *streamTable) keyOf(l *engine.Lane) string {
	switch {
	case l == nil:
		return ""
	case tab.tmpl.perLane():
		return l.ID()
	case tab.tmpl.bySrc():
		return "source " + valuesOf(l, tab.cfg.SourceNames).source
	}
	return ""
}

// grows reports whether outputs are never finished. Such an output has its
// final name from the start, or as soon as a stored cut covers it.
func (tab *streamTable) grows() bool { return !tab.tmpl.perLane() && !tab.tmpl.counts() }

// current returns the open output for n bytes of b. The output may be broken.
// The caller holds mu.
func (tab *streamTable) current(b *engine.Batch, n int) (*output, error) {
	st := tab.streamOf(laneOf(b))
	st.allow = modeOfLane(laneOf(b))
	if o := st.active; o != nil && o.err == nil && tab.isFullFor(o, n) {
		tab.rotate(st)
	}
	o, err := tab.open(st)
	if st.blocked = err; errors.Is(err, errCrowded) {
		st.blocked = nil // waiting for room is not an error
	}
	if err == nil && o.err == nil {
		tab.files.narrow(o, st.allow)
	}
	return o, err
}

func laneOf(b *engine.Batch) *engine.Lane {
	if b == nil {
		return nil
	}
	return b.Lane
}

// isFullFor reports whether o must end before n more bytes are written. An
// output does not end within an oversize record.
func (tab *streamTable) isFullFor(o *output, n int) bool {
	r := &tab.cfg.Rotate
	return o.begun() && !o.busy && !o.inRecord && (r.Size > 0 && o.most()+int64(n) > int64(r.Size) || r.Records > 0 && o.records >= r.Records)
}

// streamOf returns the stream of l, and creates it if necessary.
func (tab *streamTable) streamOf(l *engine.Lane) *stream {
	key := tab.keyOf(l)
	st := tab.streams[key]
	if st == nil {
		st = &stream{key: key}
		tab.streams[key] = st
	}
	if !st.known {
		st.known, st.v = true, valuesOf(l, tab.cfg.SourceNames)
		st.v.seq = tab.tmpl.lastSeq(st.v)
	}
	return st
}

// open returns the active output of st, opened. If no output is active, it
// continues the output that another process has left, or starts a new one.
func (tab *streamTable) open(st *stream) (*output, error) {
	if err := tab.prepare(st); err != nil {
		return nil, err
	}
	if st.active == nil {
		if err := tab.begin(st); err != nil {
			return nil, err
		}
	}
	if o := st.active; o.err == nil {
		if err := tab.ensure(o); err != nil {
			if disk.Exhausted(err) {
				tab.shutIdle(0) // the next attempt has room, unless other outputs take it
			}
			if !o.made && errors.Is(err, fs.ErrExist) { // another program created the file; the next attempt continues it
				delete(tab.taken, o.final)
				st.active = nil
			}
			return nil, err
		}
	}
	return st.active, nil
}

// prepare handles, once per lane, the rotated files that another process has
// left. Open does that for files that do not belong to a single lane.
func (tab *streamTable) prepare(st *stream) error {
	if st.ready || !tab.tmpl.counts() || !tab.tmpl.perLane() {
		return nil
	}
	if err := tab.adopt(st, &st.v); err != nil {
		return err
	}
	st.ready = true
	return nil
}

// begin sets the active output of st.
func (tab *streamTable) begin(st *stream) (err error) {
	st.active, err = tab.next(st)
	return err
}

// next returns a new output of st, or continues an output that another process has
// left. It does not write the answered records of a continued output again.
func (tab *streamTable) next(st *stream) (*output, error) {
	st.v.time = time.Now()
	st.v.seq++
	first := tab.tmpl.path(st.v)
	for n := 1; n < 1e6; n++ {
		final := numbered(first, n)
		if !tab.cfg.ExactlyOnce && !tab.tmpl.counts() {
			if o, err := tab.goOn(st, final); o != nil || err != nil {
				return o, err
			}
		}
		if tab.free(final) {
			if n > 1 && tab.cfg.ExactlyOnce && tab.grows() && !tab.taken[first] {
				tab.log.Error("output exists, continuing under another name", "path", first, "as", final)
			}
			return tab.fresh(st, final), nil
		}
	}
	return nil, fmt.Errorf("%s: cannot find an unused file name", first)
}

// fresh returns an output whose file does not exist yet.
func (tab *streamTable) fresh(st *stream, final string) *output {
	o := &output{stream: st, final: final, name: final + partSuffix, mode: allowed(os.FileMode(tab.cfg.Mode), st.allow), opened: st.v.time}
	if tab.grows() && !tab.cfg.ExactlyOnce {
		o.name = final
	}
	tab.taken[final] = true
	st.begun++
	return o
}

// goOn returns the unfinished output with the given final name that another
// process has left for st, without its torn end. It returns nil without such an
// output.
func (tab *streamTable) goOn(st *stream, final string) (*output, error) {
	name := final + partSuffix
	if tab.grows() {
		name = final
	}
	if tab.taken[final] {
		return nil, nil
	}
	fi, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	to, format, err := tab.files.cutTorn(name)
	if err != nil {
		return nil, err
	}
	if m := tab.mended[final]; m.size() == to.at { // a complete file
		to = m
	}
	if format != tab.format && to.at > 0 {
		tab.log.Info("output compression changed, finishing old output", "path", final, "format", format.String())
		if name != final {
			_, err = tab.finishAs(final)
		}
		return nil, err
	}
	if to.at > 0 {
		if err := tab.files.checkHeaderOf(name); err != nil {
			return nil, err
		}
	}
	tab.taken[final] = true
	st.begun++
	return &output{stream: st, final: final, name: name, made: true, mode: os.ModePerm, size: to.at, synced: to, ended: to.end != "", opened: fi.ModTime()}, nil
}

// free reports whether an output may use the path final. An unfinished file
// that no output uses does not matter, because it is overwritten.
func (tab *streamTable) free(final string) bool {
	if tab.taken[final] {
		return false
	}
	_, err := os.Lstat(final)
	return errors.Is(err, fs.ErrNotExist)
}

// seal ends the active output of st. The caller holds mu.
func (tab *streamTable) seal(st *stream) {
	st.sealed = append(st.sealed, st.active)
	st.active = nil
}

// rotate seals the active output of st because of its size or age.
func (tab *streamTable) rotate(st *stream) {
	tab.seal(st)
	tab.counts.rotations.Add(1)
	tab.notify.ring()
}

// rotateDue seals the outputs whose rotation time has come.
func (tab *streamTable) rotateDue() {
	every := tab.cfg.Rotate.Every
	if every == 0 {
		return
	}
	now := time.Now().UTC().Truncate(every)
	for _, st := range tab.streams {
		if o := st.active; o != nil && o.begun() && o.opened.UTC().Truncate(every).Before(now) && !o.inRecord {
			tab.rotate(st)
		}
	}
}

// publishAll renames the outputs that wait for their final names, and stores
// the errors for Health.
func (tab *streamTable) publishAll() {
	var list []*output
	for _, st := range tab.streams {
		list = tab.nameSealed(list, st)
		if o := st.active; o != nil && tab.grows() && (o.young() && o.stored > 0 || o.naming == renamed) {
			list = tab.name(list, o)
		}
	}
	tab.files.syncNames(list)
	for _, st := range tab.streams {
		tab.retire(st)
	}
}

// publishSealed renames the sealed outputs of st.
func (tab *streamTable) publishSealed(st *stream) error {
	tab.files.syncNames(tab.nameSealed(nil, st))
	tab.retire(st)
	if len(st.sealed) > 0 {
		return st.sealed[0].unnamed
	}
	return nil
}

// nameSealed renames the sealed outputs of st in order, and appends them to
// list. With ExactlyOnce, an output keeps its unfinished name until a cut
// covers all of it, because a file with a final name is never truncated.
func (tab *streamTable) nameSealed(list []*output, st *stream) []*output {
	for _, o := range st.sealed {
		if o.err != nil || len(o.pending) > 0 || o.behind() || tab.cfg.ExactlyOnce && o.stored < o.size-o.tail {
			break
		}
		if list = tab.name(list, o); o.unnamed != nil {
			break
		}
	}
	return list
}

// name renames o to its final name, not yet durably, and appends it to list.
func (tab *streamTable) name(list []*output, o *output) []*output {
	if o.unnamed = tab.files.rename(o); o.unnamed != nil {
		return list
	}
	return append(list, o)
}

// retire releases the sealed outputs of st that have their final names.
func (tab *streamTable) retire(st *stream) {
	for len(st.sealed) > 0 && st.sealed[0].naming == published {
		o := st.sealed[0]
		tab.files.shut(o)
		tab.retired = append(tab.retired, o.final)
		tab.counts.published.Add(1)
		st.sealed = st.sealed[1:]
	}
}

// A request asks the goroutine of run to finish lanes.
type request struct {
	lanes []*engine.Lane
	reply chan []error
}

// Finish implements [engine.Finisher]. It renames the outputs of the lanes to
// their final names. A lane without records gets an empty output; a skipped
// lane gets none. Each directory is synced once.
func (s *log) Finish(ctx context.Context, lanes []*engine.Lane) []error {
	if !s.tmpl.perLane() {
		return nil
	}
	errs := s.withdraw(lanes)
	var ready []*engine.Lane
	for i, l := range lanes {
		if errs[i] == nil {
			ready = append(ready, l)
		}
	}
	for i, err := range s.finishReady(ctx, ready) {
		errs[slices.Index(lanes, ready[i])] = err
	}
	return errs
}

// finishReady is Finish for lanes whose withdrawn text has been stored.
func (s *log) finishReady(ctx context.Context, lanes []*engine.Lane) []error {
	r := request{lanes, make(chan []error, 1)}
	err := errNotOpen
	s.mu.Lock()
	if s.state != logOpen {
		s.mu.Unlock()
		return slices.Repeat([]error{err}, len(lanes))
	}
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	s.notify.ring()
	select {
	case errs := <-r.reply:
		return errs
	case <-s.over:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return slices.Repeat([]error{err}, len(lanes))
}

func (s *log) finishAll(requests []request) {
	for _, r := range requests {
		r.reply <- s.finish(r.lanes)
	}
}

// finish finishes lanes after all of their records are durable and covered by a
// stored cut.
func (s *log) finish(lanes []*engine.Lane) []error {
	errs := make([]error, len(lanes))
	streams := make([]*stream, len(lanes))
	var ends, list []*output
	for i, l := range lanes {
		if streams[i], errs[i] = s.sealLast(l); streams[i] != nil {
			ends = append(ends, streams[i].sealed...)
		}
		if len(ends) > s.cfg.OpenFiles/4 { // sync now, because opening other outputs may close these
			s.syncEnds(ends)
			ends = ends[:0]
		}
	}
	s.syncEnds(ends)
	for _, st := range streams {
		if st != nil {
			list = s.table.nameSealed(list, st)
		}
	}
	s.files.syncNames(list)
	for i, st := range streams {
		if st != nil {
			errs[i] = s.table.drop(st)
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("file sink: %w", errs[i])
		}
	}
	return errs
}

// sealLast ends the outputs of a lane. It returns their stream, or nil if there
// is nothing to do.
func (s *log) sealLast(l *engine.Lane) (*stream, error) {
	st, err := s.table.lastOf(l)
	if st == nil || err != nil {
		return nil, err
	}
	if o := st.active; o != nil {
		if err := s.cutBack(o, l); err != nil {
			return nil, err
		}
		if err := s.complete(o); err != nil {
			return nil, err
		}
		s.table.seal(st)
	}
	for _, o := range st.sealed {
		if o.err != nil || len(o.pending) > 0 {
			return nil, fmt.Errorf("%s: not durable yet", o.name)
		}
		o.stored = o.size
	}
	return st, nil
}

// lastOf returns the stream of a lane that has ended, or nil if the lane is
// finished. The stream has an output even if there are no records.
func (tab *streamTable) lastOf(l *engine.Lane) (*stream, error) {
	key := tab.keyOf(l)
	if tab.streams[key] == nil && (l.Skipped() || tab.finished[key] || tab.isThere(l)) {
		return nil, nil
	}
	st := tab.streamOf(l)
	st.allow = modeOfLane(l)
	if err := tab.prepare(st); err != nil {
		return nil, err
	}
	if st.active == nil && st.begun == 0 {
		if _, err := tab.open(st); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// drop removes a stream whose outputs all have their final names.
func (tab *streamTable) drop(st *stream) error {
	tab.retire(st)
	if len(st.sealed) > 0 {
		return errors.Join(st.sealed[0].err, st.sealed[0].unnamed)
	}
	delete(tab.streams, st.key)
	return nil
}

// isThere reports whether l has a finished output and no unfinished one. An
// earlier process then finished the lane, but died before the source stored
// this.
func (tab *streamTable) isThere(l *engine.Lane) bool {
	v := valuesOf(l, tab.cfg.SourceNames)
	finished, unfinished := tab.tmpl.files(&v)
	return len(finished) > 0 && (tab.cfg.ExactlyOnce || len(unfinished) == 0)
}

// complete makes an output a valid file, not yet durably: its last member ends.
// An output without records gets its header, in a member if it is compressed,
// because an empty file is not a valid gzip file.
func (s *log) complete(o *output) error {
	if o.err != nil {
		return o.err
	}
	if s.endMember(o); o.size > 0 && !o.behind() {
		return nil
	}
	if err := s.table.ensure(o); err != nil {
		return err
	}
	var only []byte
	var err error
	if o.size == 0 {
		only, err = packed(s.format, s.level, s.cfg.Header)
	}
	if err == nil {
		err = s.files.write(o, only)
	}
	if err == nil {
		err = s.flush(o)
	}
	if err != nil {
		s.breaks(o, err)
	}
	return err
}

// Extents implements [engine.ExtentReporter]. The path of an extent is the
// final name, even while the file still has its unfinished name. The outputs of
// a stream are in the order in which they were started.
func (s *log) Extents(dst []engine.Extent) []engine.Extent {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table.retiring = len(s.table.retired)
	for key, st := range s.table.streams {
		for _, o := range st.sealed {
			dst = o.appendExtent(dst, key)
		}
		if st.active != nil {
			dst = st.active.appendExtent(dst, key)
		}
	}
	return dst
}

// appendExtent appends the extent of o. Empty outputs need none; they are
// restarted.
func (o *output) appendExtent(dst []engine.Extent, key string) []engine.Extent {
	m := o.span.covered(o.synced)
	o.extent = m.at
	if m.at == 0 {
		return dst
	}
	return append(dst, engine.Extent{Lane: key, Path: o.final, Length: m.at, End: hex.EncodeToString([]byte(m.end)), Begin: m.begin})
}

// CutStored implements [engine.CutObserver]. It allows sealed files that the
// cut covers to be renamed.
func (s *log) CutStored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.table.outputs() {
		o.stored = o.extent
	}
	for _, final := range s.table.retired[:s.table.retiring] {
		delete(s.table.taken, final)
	}
	s.table.retired, s.table.retiring = slices.Delete(s.table.retired, 0, s.table.retiring), 0
	s.notify.ring()
}
