package checkpoint

import (
	"errors"
	"fmt"
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

	snapshots map[uint64]snapshotFile // by generation
	logs      map[uint64]*logFile
	newestLog uint64 // generation of checkpoint.log, or noLog
	loaded
}

// A snapshotFile is a snapshot before parsing.
type snapshotFile struct {
	name  string
	data  []byte
	first bool // see header
}

// load returns the newest state in dir. It returns an error if a file cannot be
// read or was written by a later version. It does not skip an unreadable file,
// because all inputs would then be read again.
func load(dir folder, running bool) (*loaded, error) {
	l := &loader{dir: dir, running: running, snapshots: map[uint64]snapshotFile{}, logs: map[uint64]*logFile{}, newestLog: noLog}
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

// read reads a file and stores it under its generation.
func (l *loader) read(name string) error {
	data, err := l.dir.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	l.found, l.hadLog = true, l.hadLog || name == logName
	if name == logName || name == previousLogName {
		return l.readLog(name, data)
	}
	h, _, err := parseHeader(data)
	if errors.Is(err, errNewer) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err == nil && h.Kind != snapshotKind {
		err = errors.New("not a snapshot")
	}
	if err != nil {
		l.warn("cannot use %s: %v", name, err)
		return nil
	}
	l.last = max(l.last, h.gen)
	if _, ok := l.snapshots[h.gen]; !ok { // otherwise this is another name of the same file
		l.snapshots[h.gen] = snapshotFile{name, data, h.First}
	}
	return nil
}

// readLog parses a log and stores it under its generation.
func (l *loader) readLog(name string, data []byte) error {
	lf, err := parseLog(data)
	switch {
	case errors.Is(err, errNewer):
		return fmt.Errorf("%s: %w", name, err)
	case err != nil:
		l.warn("cannot use %s: %v", name, err)
		return nil
	}
	if name == logName {
		l.logOK, l.newestLog = lf.end == nil || lf.cut(), lf.gen
	}
	l.last = max(l.last, lf.gen)
	if l.logs[lf.gen] == nil {
		l.logs[lf.gen] = lf
	}
	return nil
}

// choose takes the newest intact snapshot and applies the commits that follow
// it.
func (l *loader) choose() error {
	for _, gen := range sortedKeys(l.snapshots) {
		s := l.snapshots[gen]
		st, _, err := parseSnapshot(s.data)
		if errors.Is(err, errNewer) {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err != nil {
			l.warn("cannot use %s: %v", s.name, err)
			continue
		}
		l.st, l.gen = st, gen
		l.snapshotOK = s.name == snapshotName
		l.replay(s.name)
		return nil
	}
	l.st = newState()
	l.lost, l.unusable = l.found, l.found
	if l.unusable {
		l.warn("no usable checkpoint: all inputs are read again from the beginning")
	}
	return nil
}

// replay applies commits, log after log, until one is missing or damaged.
func (l *loader) replay(from string) {
	hole := ""
	for hole == "" {
		lf, next := l.logs[l.gen], l.nextLog()
		limit := uint64(0)
		if lf != nil {
			limit = uint64(len(lf.changes))
		}
		if next != nil {
			limit = min(limit, next.PrevSeq)
		}
		for l.seq < limit {
			l.st.apply(lf.changes[l.seq])
			l.seq++
		}
		if next == nil {
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
}

// complete reports whether the state restored from the snapshot with that name
// is the newest one. It is if the newest log ends there, if that log is older
// because a crash interrupted a compaction, or if there is no log yet.
func (l *loader) complete(from string) bool {
	older := l.newestLog != noLog && l.newestLog < l.gen
	return l.newestLog == l.gen || from == snapshotName && (older || l.snapshots[l.gen].first && !l.hadLog)
}

// nextLog returns the log that follows the snapshot of the current generation,
// or nil. If there are several it returns the newest.
func (l *loader) nextLog() *logFile {
	for _, gen := range sortedKeys(l.logs) {
		if lf := l.logs[gen]; gen > l.gen && lf.PrevGen == l.gen {
			return lf
		}
	}
	return nil
}

// endOf returns what is wrong with the end of the last log. An incomplete
// commit was never acknowledged, so nothing is lost; while another process
// writes, it is not worth a warning either.
func (l *loader) endOf(lf *logFile) (hole string) {
	switch {
	case lf == nil || lf.end == nil:
	case lf.hole:
		return fmt.Sprintf("commit %d of generation %d is damaged (%v), but valid commits follow it", len(lf.changes)+1, lf.gen, lf.end)
	case lf.cut():
		if !l.running {
			l.warn("%s ends with an incomplete commit, as after a crash: the commit is discarded and its records are read again", logName)
		}
	default:
		return fmt.Sprintf("the last commit, number %d of generation %d, is damaged (%v)", len(lf.changes)+1, lf.gen, lf.end)
	}
	return ""
}
