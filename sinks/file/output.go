package file

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
)

// This file is structured in the following way:
//
//   - output: what is known of a file, and who it belongs to.
//   - Opening, writing, syncing. Closing it in between to save a descriptor.
//   - Mending what could not be written or synced.
//   - Giving it its final name.

// partSuffix is what the name of a file ends in that is not finished.
const partSuffix = ".part"

// copySuffix is what is appended to the final name for a copy that is to replace a
// file whose disk is not to be trusted.
const copySuffix = ".part.new"

// damagedSuffix is what is appended to the final name of a file that is put aside.
const damagedSuffix = ".part.damaged"

// An output is a file that is being written, or waits for its final name:
//
//	0            synced                 size
//	│ answered     │ pending, in order    │
//
// What is pending may have to be written again: it is in the arenas of its batches.
type output struct {
	stream *stream
	final  string
	name   string      // where it is now: final, or final.part
	f      *disk.File  // nil: not open at the moment
	made   bool        // it is there; else it is to be created
	named  bool        // its name is durable
	mode   os.FileMode // at most; see narrow

	size    int64 // written, if err is nil
	synced  int64
	extent  int64 // synced, when Extents was called last
	stored  int64 // extent, of the last cut that was stored
	pending []held
	span    span

	err     error // why it is broken: it must be mended before it is written to
	suspect bool  // a sync failed: nothing of the file that is not synced is to be believed
	lost    bool  // see errLost
	tries   int   // to mend it
	retry   time.Time

	sealed    bool  // no more is written
	renamed   bool  // it has its final name, which may not be durable
	published bool  // it is sealed, and its final name is durable
	unnamed   error // why it could not get it

	opened   time.Time
	records  int64
	inRecord bool // it ends within an oversize record
	used     uint64
}

// young reports whether o has a name for unfinished files.
func (o *output) young() bool { return o.name != o.final }

// A diskFiles does to files what an output asks for, and knows nothing of others.
type diskFiles struct {
	cfg    *LogConfig
	log    *slog.Logger
	format compress.Format
	at     func(point string) error // fault.At, or that of a test
	counts *counts
}

// ensure opens o, and creates it if it is new. The caller holds mu.
func (tab *streamTable) ensure(o *output) error {
	tab.clock++
	o.used = tab.clock
	if o.f != nil {
		return nil
	}
	if !o.made {
		if err := tab.files.at("file.before_create"); err != nil {
			return err
		}
		if err := disk.MkdirAll(filepath.Dir(o.name), 0o777); err != nil {
			return err
		}
	}
	if err := tab.makeRoom(); err != nil {
		return err
	}
	f, err := o.open()
	if err != nil {
		return err
	}
	if !o.made {
		tidy(o.final)
		o.made = true
	}
	o.f = f
	tab.counts.open.Add(1)
	return nil
}

// open opens the file of o, which it makes if it is new.
func (o *output) open() (*disk.File, error) {
	switch {
	case o.made:
		return openLocked(o.name)
	case o.young():
		return createLocked(o.name, o.mode)
	}
	f, err := disk.Open(o.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, o.mode) // what has a final name is never removed
	if err != nil {
		return nil, err
	}
	if f, err = lock(f, o.name); f == nil && err == nil {
		err = errLost
	}
	return f, err
}

// shut closes o, which is not done with. The caller holds mu, or is alone.
func (d *diskFiles) shut(o *output) {
	if o.f == nil {
		return
	}
	_ = o.f.Close() // what matters is synced
	o.f = nil
	d.counts.open.Add(-1)
}

// errCrowded says that as many files are open as may be, and that all of them wait for
// a sync: the next round makes room.
var errCrowded = errors.New("all files that may be open wait for a sync")

// makeRoom sees to it that one more file may be open.
func (tab *streamTable) makeRoom() error {
	limit := tab.cfg.OpenFiles
	if tab.counts.open.Load() < int64(limit) {
		return nil
	}
	tab.shutIdle(limit - limit/4 - 1) // a quarter at once: finding them takes looking at all
	if tab.counts.open.Load() < int64(limit) {
		return nil
	}
	return errCrowded
}

// shutIdle closes files that wait for no sync, those that were not used for the longest
// time first, until no more than keep are open.
func (tab *streamTable) shutIdle(keep int) {
	idle := slices.DeleteFunc(slices.Clone(tab.outputs()), func(o *output) bool { return o.f == nil || len(o.pending) > 0 })
	slices.SortFunc(idle, func(a, b *output) int { return cmp.Compare(a.used, b.used) })
	surplus := tab.counts.open.Load() - int64(keep)
	for _, o := range idle[:max(0, min(int64(len(idle)), surplus))] {
		tab.files.shut(o)
	}
}

// evict closes files that have not been used for the longest time, if too many are
// open. What waits for a sync stays open.
func (tab *streamTable) evict() {
	if tab.counts.open.Load() > int64(tab.cfg.OpenFiles) {
		tab.shutIdle(tab.cfg.OpenFiles)
	}
}

// write appends h to o. The caller holds mu.
func (d *diskFiles) write(o *output, h *held) error {
	if err := d.at("file.before_write"); err != nil {
		return err
	}
	for _, p := range [...][]byte{h.bytes, h.end} {
		if len(p) == 0 {
			continue
		}
		n, err := o.f.WriteAt(p, o.size)
		d.counts.bytes.Add(int64(n))
		if err != nil {
			return err
		}
		o.size += int64(n)
	}
	return d.at("file.after_write")
}

// syncAll makes durable what was written to outputs, and their names. Only run calls
// it, without mu: writing goes on meanwhile. All files are on their way to the disk
// before the first one is waited for: the others are there with it, mostly.
func (d *diskFiles) syncAll(shares []share) {
	if len(shares) > 1 {
		for i := range shares {
			startWriting(shares[i].o.f.File)
		}
	}
	for i := range shares {
		shares[i].err = d.sync(shares[i].o)
	}
	dirs := map[string]error{}
	for i := range shares {
		sh := &shares[i]
		if sh.err == nil && !sh.o.named {
			sh.err = d.syncNameOnce(dirs, sh.o.name)
			sh.o.named = sh.err == nil
		}
	}
}

// sync makes durable what was written to o.
func (d *diskFiles) sync(o *output) error {
	start := time.Now()
	defer func() { d.counts.syncTime.Add(int64(time.Since(start))) }()
	d.counts.syncs.Add(1)
	if err := d.at("file.before_sync"); err != nil {
		return err
	}
	if err := o.f.Sync(); err != nil {
		return err
	}
	if !o.isThere() {
		return errLost
	}
	return d.at("file.after_sync")
}

// errLost is the error of an output that has no name any more, or not the one that it
// was given: nobody would find there what is said to be durable.
var errLost = errors.New("it was deleted or moved while it was written")

// isThere reports whether the file that is open has its name.
func (o *output) isThere() bool {
	here, err1 := o.f.Stat()
	there, err2 := os.Lstat(o.name)
	return err1 == nil && err2 == nil && os.SameFile(here, there)
}

// failed notes that o could not be synced: the system may have dropped what it could
// not write, and the next sync of the same file would not say so.
func (s *log) failed(o *output, err error) {
	o.lost = errors.Is(err, errLost)
	o.suspect = !o.lost && !isFull(err)
	s.breaks(o, err)
	s.files.shut(o)
}

// syncNames makes the final names of outputs durable.
func (d *diskFiles) syncNames(list []*output) {
	dirs := map[string]error{}
	for _, o := range list {
		if o.renamed {
			if o.unnamed = d.syncNameOnce(dirs, o.final); o.unnamed != nil {
				continue
			}
			o.renamed = false
		}
		o.published = true
	}
}

// syncNameOnce makes the name of a file durable, unless that was tried with its
// folder already: then that is the answer.
func (d *diskFiles) syncNameOnce(dirs map[string]error, name string) error {
	dir := filepath.Dir(name)
	err, done := dirs[dir]
	if !done {
		err = d.syncName(name)
		dirs[dir] = err
	}
	return err
}

// syncName makes the name of a file durable.
func (d *diskFiles) syncName(name string) error {
	if err := d.at("file.before_sync_dir"); err != nil {
		return err
	}
	if err := disk.SyncDir(filepath.Dir(name)); err != nil {
		return err
	}
	return d.at("file.after_sync_dir")
}

// isFull reports whether err says that there is no room, which says nothing about
// what was written before.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// mend goes back to the last sync of o and writes again what is pending. The caller
// holds mu.
func (s *log) mend(o *output) {
	s.counts.retries.Add(1)
	if err := s.rewrite(o); err != nil {
		s.breaks(o, err)
		return
	}
	o.err, o.tries = nil, 0
	s.wake()
}

func (s *log) rewrite(o *output) error {
	if err := s.files.at("file.before_mend"); err != nil {
		return err
	}
	if o.lost {
		if err := s.beginAgain(o); err != nil {
			return err
		}
	}
	if o.suspect {
		s.files.shut(o)
		if err := s.files.replace(o); err != nil {
			return err
		}
		o.suspect = false
	}
	if err := s.table.ensure(o); err != nil {
		return err
	}
	if err := o.f.Truncate(o.synced); err != nil {
		return err
	}
	o.size = o.synced
	for i := range o.pending {
		if err := s.files.write(o, &o.pending[i]); err != nil {
			return err
		}
	}
	return nil
}

// beginAgain makes o another file, for what is pending. What the lost one held was
// answered, and is not written again: whoever took it away has it. A cut that was stored
// may know it, so with ExactlyOnce its name is not used again before the next one.
func (s *log) beginAgain(o *output) error {
	if !s.cfg.ExactlyOnce {
		delete(s.table.taken, o.final)
	}
	n, err := s.table.next(o.stream)
	if err != nil {
		return err
	}
	s.log.Warn("an output was deleted or moved while it was written: what comes goes to another file", "path", o.name, "bytes", o.synced, "next", n.name)
	if s.cfg.ExactlyOnce {
		s.retired = append(s.retired, o.final)
	}
	n.pending, n.sealed, n.inRecord = o.pending, o.sealed, o.inRecord
	n.mode = allowed(n.mode, o.mode)
	n.span = span{lane: o.span.lane, segment: o.span.segment}
	for i := range n.pending {
		n.records += int64(len(n.pending[i].ticket.Stream().Recs))
	}
	*o = *n
	return nil
}

// replace puts a copy of what is durable of o in its place. After a sync that failed
// the blocks of the file are not trusted with anything new, and the copy is believed
// only after it was read back.
func (d *diskFiles) replace(o *output) error {
	name := o.final + copySuffix
	err := d.copyPrefix(name, o.name, o.synced)
	if err == nil {
		err = d.at("file.before_replace")
	}
	if err == nil {
		err = disk.Rename(name, o.name)
	}
	if err != nil {
		_ = disk.Remove(name) // err is what went wrong
		return err
	}
	return d.syncName(o.name)
}

// copyPrefix makes a durable copy of the first n bytes of from.
func (d *diskFiles) copyPrefix(to, from string, n int64) (err error) {
	src, err := disk.Open(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // it was only read
	fi, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := disk.Recreate(to, ownerMode) // a process may have died while it made one
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	_ = dst.Chmod(fi.Mode().Perm()) // a wish: not every file system can
	read, written := crc32.NewIEEE(), crc32.NewIEEE()
	if _, err := io.CopyN(io.MultiWriter(dst, read), src, n); err != nil {
		return err
	}
	if err := dst.Sync(); err != nil {
		return err
	}
	if _, err := io.Copy(written, io.NewSectionReader(dst, 0, n)); err != nil {
		return err
	}
	if read.Sum32() != written.Sum32() {
		return fmt.Errorf("%s is not what was written to it", to)
	}
	return nil
}

// rename gives o its final name, which is not durable before syncNames. It may be
// called again after an error. The caller holds mu; only run, Open and Close call it.
func (d *diskFiles) rename(o *output) error {
	if o.renamed || !o.young() {
		return nil
	}
	if _, err := os.Lstat(o.name); o.sealed && errors.Is(err, fs.ErrNotExist) {
		d.log.Warn("an output was deleted or moved before it had its final name", "path", o.name, "bytes", o.size)
		return nil
	}
	if _, err := os.Lstat(o.final); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already, and is not overwritten: it must be moved away (%w)", o.final, fs.ErrExist)
	}
	if err := d.at("file.before_rename"); err != nil {
		return err
	}
	if err := disk.Rename(o.name, o.final); err != nil {
		return err
	}
	o.renamed, o.name = true, o.final
	return d.at("file.after_rename")
}
