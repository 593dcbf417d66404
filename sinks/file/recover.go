package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file has three parts:
//
//   - recover: what Open does with the files of earlier processes.
//   - With ExactlyOnce: truncating outputs to their extents.
//   - Without it: truncating torn ends.

// recover prepares the outputs of earlier processes. The caller holds mu.
func (tab *streamTable) recover() error {
	if err := probe(tab.tmpl.dir()); err != nil {
		return err
	}
	for _, name := range tab.growing() {
		if err := disk.Check(name); err != nil {
			return err
		}
	}
	if tab.cfg.ExactlyOnce {
		if err := tab.resumeAll(); err != nil {
			return err
		}
	}
	if err := tab.mendGrowing(); err != nil {
		return err
	}
	if !tab.tmpl.perLane() && (!tab.grows() || tab.cfg.ExactlyOnce) {
		if err := tab.adopt(tab.streamOf(nil), nil); err != nil {
			return err
		}
	}
	for _, st := range tab.streams {
		if err := tab.publishSealed(st); err != nil {
			return err
		}
	}
	return nil
}

// probe creates dir and checks early whether files can be written there. A full
// disk is not an error.
func probe(dir string) error {
	err := disk.MkdirAll(dir, 0o777)
	if isFull(err) {
		return nil
	}
	if err == nil {
		err = disk.Writable(dir)
	}
	return err
}

// resumeAll creates the outputs of the extents. The last output of each stream
// is continued. All other outputs are finished, and their extents cover them
// completely.
func (tab *streamTable) resumeAll() error {
	for _, m := range tab.cfg.Resume {
		o, err := tab.resume(m)
		if err != nil {
			return err
		}
		tab.taken[m.Path] = true
		if o == nil {
			tab.retired = append(tab.retired, m.Path)
			tab.finished[m.Lane] = true
			continue
		}
		st := tab.streams[m.Lane]
		if st == nil {
			st = &stream{key: m.Lane}
			tab.streams[m.Lane] = st
		}
		if st.active != nil {
			tab.seal(st)
		}
		st.active, o.stream = o, st
		st.begun++
	}
	return nil
}

// mendGrowing truncates the torn ends of growing outputs without extents. If
// the extents are lost, mendGrowing keeps the whole records, because a program
// may have read them. The records are then written again to another file, with
// all other records of the inputs. If nothing remains of a checkpoint, another
// program may have written the file, so it stays as it is. Without ExactlyOnce,
// mendGrowing leaves a plain output to next, which truncates it when there are
// more records.
func (tab *streamTable) mendGrowing() error {
	if tab.cfg.ExactlyOnce && !tab.cfg.Lost || !tab.cfg.ExactlyOnce && tab.format == compress.Plain {
		return nil
	}
	for _, first := range tab.growing() {
		for n := 1; ; n++ {
			final := numbered(first, n)
			if tab.taken[final] {
				continue
			}
			to, _, err := tab.files.cutTorn(final)
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			if err != nil && !errors.Is(err, ErrLocked) {
				return err
			}
			tab.mended[final] = to
		}
	}
	return nil
}

// resume truncates the output of m to the length in m. It returns nil if the
// output is finished.
func (tab *streamTable) resume(m engine.Extent) (*output, error) {
	tidy(m.Path)
	name := m.Path + partSuffix
	fi, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		name = m.Path
		fi, err = os.Stat(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		tab.log.Warn("checkpointed output missing, treated as finished", "path", m.Path)
		return nil, nil
	case err != nil:
		return nil, err
	case name == m.Path && tab.cfg.published != nil: // the file may have become an object
		return nil, nil
	case fi.Size() < m.Length:
		return nil, fmt.Errorf("%s is truncated: it has %d bytes, but %d were durable; restore the file, or reset the state to start over",
			name, fi.Size(), m.Length)
	case name == m.Path && !tab.grows():
		return nil, nil
	}
	to, err := placeOf(m)
	if err != nil {
		return nil, err
	}
	o := &output{final: m.Path, name: name, made: true, mode: os.ModePerm, stored: m.Length, size: to.at, synced: to, ended: to.end != "", opened: fi.ModTime()}
	if err := tab.ensure(o); err != nil {
		return nil, err
	}
	defer tab.files.shut(o)
	if format := tab.files.formatOf(o.f); format != tab.format {
		tab.log.Info("output compression changed, finishing old output", "path", m.Path, "format", format.String())
		tab.files.shut(o) // releases the lock of the output
		return nil, FinishExtent(m)
	}
	if m.Length > 0 {
		if err := tab.files.checkHeader(name, o.f); err != nil {
			return nil, err
		}
	}
	if to.endsAt(o.f, fi.Size()) {
		return o, nil
	}
	tab.log.Info("truncating output to its checkpoint", "path", name, "bytes", fi.Size()-m.Length)
	if err := tab.files.at("file.before_truncate"); err != nil {
		return nil, err
	}
	return o, errors.Join(cutFile(o.f, to), o.f.Sync())
}

// adopt handles the unfinished outputs with the values v that no extent names.
// With ExactlyOnce, the checkpoint does not cover them, and adopt removes them.
// Otherwise adopt finishes them, because some of their batches may have been
// answered.
func (tab *streamTable) adopt(st *stream, v *values) error {
	_, unfinished := tab.tmpl.files(v)
	for _, final := range unfinished {
		if tab.taken[final] {
			continue
		}
		name := final + partSuffix
		var to place
		if !tab.cfg.ExactlyOnce {
			var err error
			if to, _, err = tab.files.cutTorn(name); err != nil {
				return err
			}
		}
		if to.at == 0 {
			if err := tab.files.discard(name); err != nil {
				return err
			}
			continue
		}
		tab.taken[final] = true
		st.begun++
		st.sealed = append(st.sealed, &output{stream: st, final: final, name: name, made: true, size: to.at, synced: to})
	}
	st.v.seq = tab.tmpl.lastSeq(st.v)
	return nil
}

// discard removes an unfinished file, unless another process is writing it.
func (d *diskFiles) discard(name string) error {
	f, err := openLocked(name)
	if err != nil {
		return err
	}
	tidy(strings.TrimSuffix(name, partSuffix))
	return errors.Join(disk.Remove(name), f.Close())
}

// tidy removes an incomplete copy that a dead process has left behind.
func tidy(final string) {
	_ = disk.Remove(final + copySuffix) // the copy rarely exists, and leaving it is harmless
}

// cutTorn truncates the torn end of a file, which contains no answered
// batch, and ends the member that is open there. It returns the place of the
// cut, and the compression of the file. If the file has damage that a crash
// does not explain, cutTorn keeps it under another name and continues with a
// copy of its intact part.
func (d *diskFiles) cutTorn(name string) (to place, format compress.Format, err error) {
	if err := mergeAside(name); err != nil {
		return to, 0, err
	}
	f, err := openLocked(name)
	if err != nil {
		return to, 0, err
	}
	defer func() { _ = f.Close() }() // already synced
	tidy(strings.TrimSuffix(name, partSuffix))
	size, err := f.Seek(0, io.SeekEnd)
	format = d.formatOf(f)
	if err != nil || size == 0 {
		return to, format, err
	}
	torn := true
	if format == compress.Plain && d.cfg.Quoted {
		to.at, err = lastRow(f, size)
	} else if format == compress.Plain {
		to.at, err = lastLine(f, size)
	} else {
		to.at, torn, err = lastMember(f, format, size)
	}
	if err != nil || to.at == size {
		return to, format, err
	}
	if !torn {
		return to, format, d.putAside(name, to.at)
	}
	if format != compress.Plain {
		to.begin = to.at
		n, end := compress.Mend(format, io.NewSectionReader(f, to.at, size-to.at))
		to.at, to.end = to.at+n, end
	}
	if d.cfg.Lost {
		d.log.Warn("truncating torn output of a lost checkpoint", "path", name, "bytes", size-to.at)
	} else {
		d.log.Info("truncating torn output", "path", name, "bytes", size-to.at)
	}
	if err := d.at("file.before_truncate"); err != nil {
		return to, format, err
	}
	return to, format, errors.Join(cutFile(f, to), f.Sync())
}

// formatOf returns the compression of an output that another process has left,
// maybe with another configuration. A file that is neither text nor in one of
// the output formats counts as a damaged file of the configured format.
func (d *diskFiles) formatOf(f io.ReaderAt) compress.Format {
	head := make([]byte, 1<<10)
	n, _ := f.ReadAt(head, 0) // later reads report the error again
	head = head[:n]
	switch format := compress.Detect(head); {
	case format == compress.Gzip, format == compress.Zstd:
		return format
	case format == compress.Plain && bytes.IndexByte(head, '\n') >= 0 && !bytes.ContainsFunc(head, isControl):
		return format
	}
	return d.format
}

// isControl reports whether r does not occur in text.
func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }

// magicLen is the number of bytes needed to detect a format.
const magicLen = 4

// lastMember returns the end of the last complete member, and whether the rest
// looks like the result of a crash.
func lastMember(f *disk.File, format compress.Format, size int64) (good int64, torn bool, err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, false, err
	}
	good, _, v := compress.LastGood(f, compress.Options{Limits: compress.Limits{MaxRatio: -1}})
	switch {
	case v.Kind == compress.Unreadable:
		return 0, false, fmt.Errorf("%s: %v", f.Name(), v)
	case v.Format != format:
		good, torn = 0, size < magicLen
	default:
		// The process died while it wrote the member.
		torn = v.Kind == compress.Truncated || v.Kind == compress.TrailingGarbage
	}
	if torn {
		return good, true, nil
	}
	// A power loss leaves zeros where the system had extended the file but not
	// yet written it. At most the beginning of one member precedes them.
	rest, err := trimZeros(f, size)
	switch {
	case err != nil || rest == size:
		return good, false, err
	case rest-good < magicLen:
		return good, true, nil
	}
	tail := compress.Verify(io.NewSectionReader(f, good, rest-good), compress.Options{Limits: compress.Limits{MaxRatio: -1}})
	return good, tail.Verdict.Format == format && tail.Verdict.Kind == compress.Truncated && tail.Members == 0, nil
}

// trimZeros returns the size of f without trailing zeros.
func trimZeros(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for size > 0 {
		p := buf[:min(size, int64(len(buf)))]
		if _, err := f.ReadAt(p, size-int64(len(p))); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		n := len(bytes.TrimRight(p, "\x00"))
		size -= int64(len(p) - n)
		if n > 0 {
			return size, nil
		}
	}
	return 0, nil
}

// lastLine returns the offset after the last line feed in the first size bytes.
func lastLine(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		p := buf[:min(end, int64(len(buf)))]
		if _, err := f.ReadAt(p, end-int64(len(p))); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			return end - int64(len(p)) + int64(i) + 1, nil
		}
		end -= int64(len(p))
	}
	return 0, nil
}

// lastRow returns the offset after the last line feed in the first size bytes
// that is not in quotes.
func lastRow(f io.ReaderAt, size int64) (good int64, err error) {
	buf := make([]byte, 64<<10)
	quoted := false
	for start := int64(0); start < size; start += int64(len(buf)) {
		p := buf[:min(size-start, int64(len(buf)))]
		if _, err := f.ReadAt(p, start); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for i, c := range p {
			switch {
			case c == '"':
				quoted = !quoted
			case c == '\n' && !quoted:
				good = start + int64(i) + 1
			}
		}
	}
	return good, nil
}

// putAside renames a damaged file, and replaces it with a copy of its first n
// bytes, which are intact.
func (d *diskFiles) putAside(name string, n int64) error {
	final := strings.TrimSuffix(name, partSuffix)
	aside := final + damagedSuffix
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s%s-%d", final, damagedSuffix, i)
	}
	d.log.Warn("output damaged, continuing with its intact part", "path", name, "kept", aside, "bytes", n)
	if err := d.copyPrefix(final+copySuffix, name, n); err != nil {
		return err
	}
	if err := disk.Link(name, aside); err != nil {
		return err
	}
	if err := disk.Rename(final+copySuffix, name); err != nil {
		return err
	}
	return d.syncName(name)
}

// mergeAside removes the second name that putAside has given to the file, if
// the process died without replacing the first name with the copy. Otherwise
// the file would be refused, because it has two names.
func mergeAside(name string) error {
	fi, err := os.Lstat(name)
	if err != nil || disk.Check(name) == nil {
		return nil // the next open of the file reports the problem
	}
	dir, base := filepath.Split(strings.TrimSuffix(name, partSuffix) + damagedSuffix)
	if dir == "" {
		dir = "."
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, d := range list {
		if !strings.HasPrefix(d.Name(), base) {
			continue
		}
		aside := filepath.Join(dir, d.Name())
		if other, err := os.Lstat(aside); err == nil && os.SameFile(fi, other) {
			return disk.Remove(aside)
		}
	}
	return nil
}
