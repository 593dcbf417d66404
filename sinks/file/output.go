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

// This file has four parts:
//
//   - output: the state of a file, and its owner.
//   - Opening, writing and syncing; closing temporarily to save descriptors.
//   - Repairing a file after a failed write or sync.
//   - Renaming a file to its final name.

// partSuffix is appended to the final name of an unfinished file.
const partSuffix = ".part"

// copySuffix is appended to the final name for a copy that will replace a file
// after a failed sync.
const copySuffix = ".part.new"

// damagedSuffix is appended to the final name of a damaged file that is set
// aside.
const damagedSuffix = ".part.damaged"

// An output is a file that is being written, or waits for its final name:
//
//	0            synced                 size
//	│ answered     │ pending, in order    │
//
// The pending batches may have to be written again. Their bytes are in the
// arenas.
type output struct {
	stream *stream
	final  string
	name   string      // current name: final or final.part
	f      *disk.File  // nil while it is closed
	made   bool        // the file exists; otherwise it must be created
	named  bool        // the name is durable
	mode   os.FileMode // maximum permissions; see narrow

	size    int64 // bytes written, if err is nil
	synced  place
	extent  int64 // synced at the last call of Extents
	stored  int64 // extent in the last stored cut
	pending []held
	span    span

	// Of a compressed output; see members.go.
	member *compress.MemberWriter // has the open member; nil: none is open
	packed []byte                 // bytes that the next flush writes behind size
	tail   int64                  // number of bytes at the end of the file and packed that end a member
	begin  int64                  // offset of the open member
	ended  bool                   // the file has synced.end behind size; see proceed

	busy    bool // a goroutine uses member without holding mu; see alone
	syncing bool // a round is syncing the output

	err    error // why the output must be repaired before writing to it
	damage damage
	tries  int // attempts to repair the output
	retry  time.Time

	naming  naming
	unnamed error // why the output could not be renamed

	opened   time.Time
	records  int64
	inRecord bool // the file ends within an oversize record
	used     uint64
}

// A damage is what a failed write or sync has left of the file of an output.
type damage uint8

const (
	tornEnd damage = iota // only the data after the last sync is unreliable
	suspect               // a sync failed; data that was not synced before is unreliable
	gone                  // the file was deleted or moved
)

// A naming is how far the final name of an output is.
type naming uint8

const (
	unrenamed naming = iota
	renamed          // the output has its final name, perhaps not durably
	published        // the output is complete, and its final name is durable
)

// young reports whether o still has its unfinished name.
func (o *output) young() bool { return o.name != o.final }

// A diskFiles performs file operations for single outputs. It is independent of other
// outputs.
type diskFiles struct {
	cfg    *LogConfig
	log    *slog.Logger
	format compress.Format
	at     func(point string) error // fault.At, or a replacement in tests
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
	if limit := tab.cfg.OpenFiles; tab.counts.open.Load() >= int64(limit) {
		tab.shutIdle(limit - limit/4 - 1) // close a quarter of the files, because each search visits all outputs
		if tab.counts.open.Load() >= int64(limit) {
			return errCrowded
		}
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

// open opens the file of o, and creates it if it is new.
func (o *output) open() (*disk.File, error) {
	switch {
	case o.made:
		return openLocked(o.name)
	case o.young():
		return createLocked(o.name, o.mode)
	}
	f, err := disk.Open(o.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, o.mode) // a file with a final name is never removed
	if err != nil {
		return nil, err
	}
	if f, err = lock(f, o.name); f == nil && err == nil {
		err = errLost
	}
	return f, err
}

// shut closes o, which may be opened again later. The caller holds mu, or no
// other goroutine is running.
func (d *diskFiles) shut(o *output) {
	if o.f == nil {
		return
	}
	_ = o.f.Close() // the important data is synced
	o.f = nil
	d.counts.open.Add(-1)
}

// errCrowded reports that the maximum number of files is open and that all of
// them wait for a sync. The next round closes some.
var errCrowded = errors.New("too many open files: every open output waits for a sync")

// shutIdle closes files that do not wait for a sync, least recently used first,
// until at most keep files are open.
func (tab *streamTable) shutIdle(keep int) {
	idle := slices.DeleteFunc(slices.Clone(tab.outputs()), func(o *output) bool { return o.f == nil || len(o.pending) > 0 || o.busy || o.syncing })
	slices.SortFunc(idle, func(a, b *output) int { return cmp.Compare(a.used, b.used) })
	surplus := tab.counts.open.Load() - int64(keep)
	for _, o := range idle[:max(0, min(int64(len(idle)), surplus))] {
		tab.files.shut(o)
	}
}

// write appends parts to o. The caller holds mu.
func (d *diskFiles) write(o *output, parts ...[]byte) error {
	if err := d.at("file.before_write"); err != nil {
		return err
	}
	for _, p := range parts {
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

// syncAll makes the data written to outputs durable, and their names. Only run
// calls it, without mu, so that writing can continue. It first starts the
// writing of all files, then waits for each, so that most of the others are
// done by then.
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

// sync makes the data written to o durable.
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
	if !isThere(o.f, o.name) {
		return errLost
	}
	return d.at("file.after_sync")
}

// errLost is the error of an output that no longer has its name. A sync would make the
// data durable, but no program could find it.
var errLost = errors.New("file was deleted or moved while it was being written")

// failed handles a failed sync of o. The system may have dropped the data that
// it could not write, and the next sync of the same file would not report that.
func (s *log) failed(o *output, err error) {
	switch {
	case errors.Is(err, errLost):
		o.damage = gone
	case !isFull(err):
		o.damage = suspect
	}
	s.breaks(o, err)
	s.files.shut(o)
}

// syncNames makes the final names of outputs durable.
func (d *diskFiles) syncNames(list []*output) {
	dirs := map[string]error{}
	for _, o := range list {
		if o.naming == renamed {
			if o.unnamed = d.syncNameOnce(dirs, o.final); o.unnamed != nil {
				continue
			}
		}
		o.naming = published
		if d.cfg.published != nil {
			d.cfg.published(o.final)
		}
	}
}

// syncNameOnce makes the name of a file durable. It syncs each directory at
// most once and returns the same result for all files in it.
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

// isFull reports whether err means that there is no space, which does not
// affect data that was written before.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// mend truncates o to its last sync and writes its pending batches again. The
// caller holds mu.
func (s *log) mend(o *output) {
	s.counts.retries.Add(1)
	if err := s.alone(o, func() error { return s.rewrite(o) }); err != nil {
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
	if o.damage == gone {
		if err := s.beginAgain(o); err != nil {
			return err
		}
	}
	if o.damage == suspect {
		s.files.shut(o)
		if err := s.files.replace(o); err != nil {
			return err
		}
		o.damage = tornEnd
	}
	if err := s.table.ensure(o); err != nil {
		return err
	}
	if err := s.cutTo(o, o.synced); err != nil {
		return err
	}
	if o.ended && len(o.pending) == 0 { // the output may get its final name next
		return o.f.Sync()
	}
	s.headed(o)
	for i := range o.pending {
		if err := s.put(o, &o.pending[i]); err != nil {
			return err
		}
	}
	return s.flush(o)
}

// beginAgain moves o to another file for the pending batches. The answered records in
// the lost file are not written again, because the program that moved the file has
// them. A stored cut may contain the file, so with ExactlyOnce its name is not reused
// before the next cut.
func (s *log) beginAgain(o *output) error {
	if !s.cfg.ExactlyOnce {
		delete(s.table.taken, o.final)
	}
	n, err := s.table.next(o.stream)
	if err != nil {
		return err
	}
	s.log.Warn("output deleted or moved, continuing in another file", "path", o.name, "bytes", o.synced.at, "next", n.name)
	if s.cfg.ExactlyOnce {
		s.table.retired = append(s.table.retired, o.final)
	}
	n.pending, n.inRecord, n.busy = o.pending, o.inRecord, true
	n.mode = allowed(n.mode, o.mode)
	s.release(o)
	for i := range n.pending {
		n.records += int64(len(n.pending[i].ticket.Stream().Recs))
	}
	*o = *n
	return nil
}

// replace replaces o by a copy of its durable part. After a failed sync the
// blocks of the file are not reused for new data, and the copy is trusted only
// after reading it back.
func (d *diskFiles) replace(o *output) error {
	name := o.final + copySuffix
	err := d.copyPrefix(name, o.name, o.synced.at)
	if err == nil {
		err = d.at("file.before_replace")
	}
	if err == nil {
		err = disk.Rename(name, o.name)
	}
	if err != nil {
		_ = disk.Remove(name) // err is the error to report
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
	defer func() { _ = src.Close() }() // opened for reading only
	fi, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := disk.Recreate(to, ownerMode) // a dead process may have left a file with this name
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	_ = dst.Chmod(fi.Mode().Perm()) // best effort: not every file system supports it
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
		return fmt.Errorf("%s differs from the data that urlfold has written: check the disk and the memory", to)
	}
	return nil
}

// rename renames o to its final name, which is not durable before syncNames. It
// may be repeated after an error. The caller holds mu; only run, Open and Close
// call it.
func (d *diskFiles) rename(o *output) error {
	if o.naming == renamed || !o.young() {
		return nil
	}
	if _, err := os.Lstat(o.name); o.stream.active != o && errors.Is(err, fs.ErrNotExist) {
		d.log.Warn("output deleted or moved before its final rename", "path", o.name, "bytes", o.size)
		return nil
	}
	if err := refuseTaken(o.final); err != nil {
		return err
	}
	if err := d.at("file.before_rename"); err != nil {
		return err
	}
	if err := disk.Rename(o.name, o.final); err != nil {
		return err
	}
	o.naming, o.name = renamed, o.final
	return d.at("file.after_rename")
}
