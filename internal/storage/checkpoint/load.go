package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Names in the data directory.
const (
	lockName        = "lock"
	snapshotName    = "checkpoint"
	logName         = "checkpoint.log"
	previousName    = "checkpoint.1"
	previousLogName = "checkpoint.1.log"
	badName         = "checkpoint.bad"
	badLogName      = "checkpoint.log.bad"
	asideName       = "checkpoint.new"
	asideLogName    = "checkpoint.log.new"
)

// A loaded is the newest state in a data directory, with the way it was found.
type loaded struct {
	st       *state
	warnings []string

	// The last commit of the state, and the greatest generation named by any
	// file.
	gen, seq, last uint64

	snapshotOK bool // checkpoint is a readable snapshot
	logOK      bool // checkpoint.log is undamaged, though its last commit may be incomplete
	hadLog     bool // checkpoint.log exists
	found      bool // some file of a state exists
	lost       bool // the state, or the end of it, cannot be used
	unusable   bool // no generation can be used
}

// noLog is the value of loader.newestLog if checkpoint.log cannot be read.
const noLog = ^uint64(0)

// A loader reads the files of a data directory. It identifies them by their
// generations, not by their names: a copy of the folder may have read the files
// at different times, and a crash may have happened between two renames.
type loader struct {
	dir     folder
	running bool // a process may be writing: the end of a log may be incomplete

	snapshots, logs map[uint64]stateFile // by generation
	newestLog       uint64               // generation of checkpoint.log, or noLog
	checked         bool                 // logOK is set
	release         []func() error
	loaded
}

// A stateFile is a file whose header has been read.
type stateFile struct {
	header
	name string
	file *io.SectionReader
	body int64 // offset of the frames after the header
}

// headBytes is more than the first line and the header frame take.
const headBytes = 4 << 10

// frames returns a reader of the frames after the header.
func (s *stateFile) frames() *frameReader {
	left := s.file.Size() - s.body
	return &frameReader{file: io.NewSectionReader(s.file, s.body, left), left: left}
}

// failure returns an error if the loader must not skip the file as damaged:
// because the file cannot be read, or because a later version wrote it. err is
// the error of parsing the file.
func (s *stateFile) failure(frames *frameReader, err error) error {
	switch {
	case frames.failed != nil:
		err = frames.failed
	case !errors.Is(err, errNewer):
		return nil
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// load returns the newest state in dir. It returns an error if a file cannot be
// read or was written by a later version. It does not skip an unreadable file,
// because all inputs would then be read again.
func load(dir folder, running bool) (*loaded, error) {
	l := &loader{dir: dir, running: running, snapshots: map[uint64]stateFile{}, logs: map[uint64]stateFile{}, newestLog: noLog}
	defer func() {
		for _, f := range l.release {
			_ = f() // opened for reading only
		}
	}()
	for _, name := range []string{snapshotName, logName, previousName, previousLogName} {
		if err := l.read(name); err != nil {
			return nil, fmt.Errorf("cannot load the checkpoint: %w", err)
		}
	}
	if err := l.choose(); err != nil {
		return nil, fmt.Errorf("cannot load the checkpoint: %w", err)
	}
	return &l.loaded, nil
}

// warn adds a warning for the operator.
func (l *loader) warn(format string, args ...any) {
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

// read reads the header of a file, and stores the file under its generation.
func (l *loader) read(name string) error {
	file, release, err := l.dir.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	l.release = append(l.release, release)
	l.found, l.hadLog = true, l.hadLog || name == logName
	kind, files := snapshotKind, l.snapshots
	if name == logName || name == previousLogName {
		kind, files = logKind, l.logs
	}
	s := stateFile{name: name, file: file}
	head := make([]byte, min(headBytes, file.Size()))
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) { // a running process may have truncated a log
		return err
	}
	head = head[:n]
	var rest []byte
	s.header, rest, err = parseHeader(head)
	s.body = int64(len(head) - len(rest))
	if errors.Is(err, errNewer) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err == nil && s.Kind != kind {
		err = errors.New("not a " + kind)
	}
	if err != nil {
		l.warn("cannot use %s: %v", name, err)
		return nil
	}
	l.last = max(l.last, s.gen)
	if _, ok := files[s.gen]; !ok { // otherwise this is another name of the same file
		files[s.gen] = s
	}
	if name == logName {
		l.newestLog = s.gen
	}
	return nil
}

// choose takes the newest intact snapshot and applies the commits that follow
// it.
func (l *loader) choose() error {
	for _, gen := range sortedKeys(l.snapshots) {
		s := l.snapshots[gen]
		frames := s.frames()
		st, err := parseSnapshot(s.header, frames)
		if failed := s.failure(frames, err); failed != nil {
			return failed
		}
		if err != nil {
			l.warn("cannot use %s: %v", s.name, err)
			continue
		}
		l.st, l.gen = st, gen
		l.snapshotOK = s.name == snapshotName
		return errors.Join(l.replay(s.name), l.check())
	}
	l.st = newState()
	l.lost, l.unusable = l.found, l.found
	if l.unusable {
		l.warn("no usable checkpoint: all inputs are read again from the beginning")
	}
	return l.check()
}

// check sets logOK if replay has not done so.
func (l *loader) check() error {
	if l.checked || l.newestLog == noLog {
		return nil
	}
	_, err := l.commits(l.newestLog, func(*change) {})
	return err
}

// commits calls f for the commits of a log up to the first invalid one, and returns the
// log, or nil if this generation has no log.
func (l *loader) commits(gen uint64, f func(*change)) (*logFile, error) {
	s, ok := l.logs[gen]
	if !ok {
		return nil, nil
	}
	lf := &logFile{header: s.header, frames: s.frames()}
	for c := lf.next(); c != nil; c = lf.next() {
		f(c)
	}
	if err := s.failure(lf.frames, lf.end); err != nil {
		return nil, err
	}
	if gen == l.newestLog {
		l.logOK, l.checked = lf.end == nil || lf.cut(), true
	}
	return lf, nil
}

// replay applies commits, log after log, until a commit is missing or damaged.
func (l *loader) replay(from string) error {
	hole := ""
	for hole == "" {
		next, more := l.nextLog()
		limit := ^uint64(0)
		if more {
			limit = next.PrevSeq
		}
		lf, err := l.commits(l.gen, func(c *change) {
			if l.seq < limit {
				l.st.apply(c)
				l.seq++
			}
		})
		if err != nil {
			return err
		}
		if !more {
			hole = l.endOf(lf)
			break
		}
		if l.seq < next.PrevSeq {
			hole = fmt.Sprintf("commits %d to %d of generation %d are missing or damaged", l.seq+1, next.PrevSeq, l.gen)
			break
		}
		l.gen, l.seq = next.gen, 0
	}
	l.lost = hole != "" || !l.complete(from)
	switch {
	case hole != "":
		l.warn("cannot use %s beyond this point: %s; records committed after it are read again", logName, hole)
	case l.lost:
		l.warn("restored the checkpoint from %s, but some later commits are missing: their records are read again", from)
	case from != snapshotName:
		l.warn("rebuilt the checkpoint from %s and the commits after it: nothing is read again", from)
	}
	return nil
}

// complete reports whether the state restored from the snapshot called from, and
// from the logs after it, is the newest state. It is if the newest log was applied,
// if that log is older because a crash interrupted a compaction, or if there is no
// log yet.
func (l *loader) complete(from string) bool {
	older := l.newestLog != noLog && l.newestLog < l.gen
	return l.newestLog == l.gen || from == snapshotName && (older || l.snapshots[l.gen].First && !l.hadLog)
}

// nextLog returns the log that follows the snapshot of the current generation,
// if there is one. If there are several, nextLog returns the newest.
func (l *loader) nextLog() (s stateFile, ok bool) {
	for _, gen := range sortedKeys(l.logs) {
		if s := l.logs[gen]; gen > l.gen && s.PrevGen == l.gen {
			return s, true
		}
	}
	return s, false
}

// endOf returns what is wrong with the end of the last log. An incomplete
// commit was never acknowledged, so nothing is lost; while another process
// writes, it is not worth a warning either.
func (l *loader) endOf(lf *logFile) (hole string) {
	switch {
	case lf == nil || lf.end == nil:
	case lf.hole:
		return fmt.Sprintf("commit %d of generation %d is damaged (%v), but valid commits follow it", lf.seq+1, lf.gen, lf.end)
	case lf.cut():
		if !l.running {
			l.warn("%s ends with an incomplete commit, as after a crash: the commit is discarded and its records are read again", logName)
		}
	default:
		return fmt.Sprintf("the last commit, number %d of generation %d, is damaged (%v)", lf.seq+1, lf.gen, lf.end)
	}
	return ""
}
