package engine

import (
	"bytes"
	"cmp"
	"io/fs"
)

// A label holds the properties of a lane, which do not change once it has emitted
// a batch.
type label struct {
	name string
	id   string
	log  string
	rel  string
	src  int          // index of the source
	perm *fs.FileMode // permissions of the input; nil if they are not known
	head []byte       // header record
}

// Name returns the name that the source gave to the lane, such as a path or a
// topic and a partition.
func (l *label) Name() string { return l.name }

// SetID sets the identity of the lane. The identity must be the same each time
// the records are read, in this process or a later one, and unique among the
// lanes. Ids that sinks build from the identity and a position are then stable
// across replays. The source calls SetID before the first Emit, if at all.
func (l *label) SetID(id string) { l.id = id }

// ID returns the identity of the lane. The default is its name.
func (l *label) ID() string {
	return cmp.Or(l.id, l.name)
}

// SetLog sets the identity of the log that the lane reads, if a log with other
// records at the same positions can replace it under the same ID. The source
// calls SetLog before the first Emit, if at all.
func (l *label) SetLog(id string) { l.log = id }

// Log returns the identity of the log; empty if SetLog was not called. The
// message ids that sinks build contain this identity.
func (l *label) Log() string { return l.log }

// SetRel sets the name of the lane relative to the source's search path; for a
// file, that is the path below the fixed part of its pattern. Sinks derive
// output names from it. The source calls SetRel before the first Emit, if at
// all.
func (l *label) SetRel(rel string) { l.rel = rel }

// Rel returns the relative name of the lane. The default is its name.
func (l *label) Rel() string {
	return cmp.Or(l.rel, l.name)
}

// SetPerm sets the permissions of the lane's input. An output that holds its
// records grants no further permissions. The source calls SetPerm before the
// first Emit, or not at all if the input has no permissions.
func (l *label) SetPerm(perm fs.FileMode) {
	l.perm = new(perm.Perm())
}

// Perm returns the permissions of the lane's input, and whether it has any.
func (l *label) Perm() (perm fs.FileMode, known bool) {
	if l.perm == nil {
		return 0, false
	}
	return *l.perm, true
}

// Source returns the index of the lane's source in Options.Sources.
func (l *label) Source() int { return l.src }

// SetHead stores a copy of the lane's header record, such as the column names
// of a CSV file. The source calls it before the first Emit, if at all.
func (l *label) SetHead(rec []byte) { l.head = bytes.Clone(rec) }

// Head returns the header record, or nil. The caller must not modify it.
func (l *label) Head() []byte { return l.head }
