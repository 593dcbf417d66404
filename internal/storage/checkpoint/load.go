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

// A loaded is the newest state that a data directory has, and how it was found.
type loaded struct {
	st       *state
	warnings []string

	// The position that the state was reached at, and the greatest generation that
	// a file names.
	gen, seq, last uint64

	snapshotOK bool // checkpoint is a snapshot that can be read
	logOK      bool // checkpoint.log is a log without damage, though its end may be incomplete
	hadLog     bool // checkpoint.log is there
	found      bool // there is a file of a state
}

// noLog is the generation of checkpoint.log if it cannot be read.
const noLog = ^uint64(0)

// A loader reads the files of a data directory. It does not go by their names but
// by their generations: a copy of the folder may have taken them at different
// times, and a crash may have come between two renames.
type loader struct {
	dir     folder
	running bool // a process may be writing meanwhile: the end of a log may be incomplete

	snapshots map[uint64]snapshotFile // by generation; those of version 1 have 0
	logs      map[uint64]*logFile
	newestLog uint64 // generation of checkpoint.log, or noLog
	loaded
}

// A snapshotFile is a snapshot that is not parsed yet.
type snapshotFile struct {
	name  string
	data  []byte
	first bool // see header
}

// load returns the newest state in dir. The error says that a file cannot be read,
// or was written by a later version: such a state is not passed over, for all
// would be read again.
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

// warn notes what an operator has to know.
func (l *loader) warn(format string, args ...any) {
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

// read reads a file, and files it under its generation.
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
	if isLegacy(data) {
		l.addSnapshot(0, snapshotFile{name, data, true})
		return nil
	}
	h, _, err := parseHeader(data)
	if errors.Is(err, errNewer) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err == nil && h.Kind != snapshotKind {
		err = errors.New("it is no snapshot")
	}
	if err != nil {
		l.warn("%s cannot be used: %v", name, err)
		return nil
	}
	l.last = max(l.last, h.gen)
	l.addSnapshot(h.gen, snapshotFile{name, data, h.First})
	return nil
}

// addSnapshot files a snapshot. Of two of one generation, which are two names of
// one file unless both are of version 1, the one that is in use comes first.
func (l *loader) addSnapshot(gen uint64, s snapshotFile) {
	if first, ok := l.snapshots[gen]; !ok {
		l.snapshots[gen] = s
	} else if gen == 0 && !isWholeLegacy(first.data) {
		l.warn("%s cannot be used: %v", first.name, legacyError(first.data))
		l.snapshots[gen] = s
	}
}

func legacyError(data []byte) error {
	_, err := parseLegacy(data)
	return err
}

func isWholeLegacy(data []byte) bool { return legacyError(data) == nil }

// readLog reads a log.
func (l *loader) readLog(name string, data []byte) error {
	lf, err := parseLog(data)
	switch {
	case errors.Is(err, errNewer):
		return fmt.Errorf("%s: %w", name, err)
	case err != nil:
		l.warn("%s cannot be used: %v", name, err)
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

// choose takes the newest snapshot that is whole, and applies the commits that
// follow it.
func (l *loader) choose() error {
	for _, gen := range sortedKeys(l.snapshots) {
		s := l.snapshots[gen]
		st, err := s.parse()
		if errors.Is(err, errNewer) {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err != nil {
			l.warn("%s cannot be used: %v", s.name, err)
			continue
		}
		l.st, l.gen = st, gen
		l.snapshotOK = s.name == snapshotName
		l.replay(s.name)
		return nil
	}
	l.st = newState()
	if l.found {
		l.warn("there is no checkpoint that can be used: everything is read from its beginning")
	}
	return nil
}

func (s *snapshotFile) parse() (*state, error) {
	if isLegacy(s.data) {
		return parseLegacy(s.data)
	}
	st, _, err := parseSnapshot(s.data)
	return st, err
}

// replay applies commits, from log to log, for as long as none is missing.
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
	switch {
	case hole != "":
		l.warn("%s cannot be used from there on: %s; what was committed after that is read again", logName, hole)
	case !l.complete(from):
		l.warn("the checkpoint of %s is used, and a part of what was committed after it is missing: that is read again", from)
	case from != snapshotName:
		l.warn("the checkpoint was rebuilt from %s and the commits after it: nothing is read again", from)
	}
}

// complete reports whether the state that was reached from the snapshot of that
// name is the newest one: the newest log ends there, or is older, as a crash in a
// compaction leaves it, or there is none yet. Version 1 had no log.
func (l *loader) complete(from string) bool {
	older := l.newestLog != noLog && l.newestLog < l.gen
	return l.newestLog == l.gen || from == snapshotName && (older || l.snapshots[l.gen].first && !l.hadLog)
}

// nextLog returns the log that follows a snapshot of the generation that is being
// applied, or nil: the newest one if there are several.
func (l *loader) nextLog() *logFile {
	for _, gen := range sortedKeys(l.logs) {
		if lf := l.logs[gen]; gen > l.gen && lf.PrevGen == l.gen {
			return lf
		}
	}
	return nil
}

// endOf says what is wrong with the end of the last log. What is incomplete was
// never acknowledged, and is no loss; nor is it worth a word while a process
// writes.
func (l *loader) endOf(lf *logFile) (hole string) {
	switch {
	case lf == nil || lf.end == nil:
	case lf.hole:
		return fmt.Sprintf("commit %d of generation %d is damaged (%v), and others follow it", len(lf.changes)+1, lf.gen, lf.end)
	case lf.cut():
		if !l.running {
			l.warn("%s ends in an incomplete commit, as a crash leaves it: the commit is discarded, and what it held is read again", logName)
		}
	default:
		return fmt.Sprintf("commit %d of generation %d, the last one, is damaged (%v)", len(lf.changes)+1, lf.gen, lf.end)
	}
	return ""
}
