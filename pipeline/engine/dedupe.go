package engine

import (
	"context"
	"time"

	"github.com/urlfold/urlfold/codec"
)

// A Dedupe makes a pipeline drop, or mark, the records whose identity (Stream.IDs) was
// seen before, without losing a record in a crash: see decisions.go. The codec
// must collect identities.
type Dedupe struct {
	Set   KeySet
	Lanes LaneKeySet // instead of Set, for ScopeLane, if the sets move with their lanes
	Scope Scope
	// Claims, for a source that is an [Acker], replaces Set: see claims.go.
	Claims Claims
	// Room is the most keys that wait for a commit. When it is reached, sources
	// wait. The default is 256 Ki keys.
	Room int
	// Window limits the comparison to records of the same window. It requires
	// facts with times, or messages. A Set must be a [WindowKeySet], and Claims
	// must forget a key some time after its record is durable. If Window is
	// nil, all records are compared.
	Window *Window
	// NewMark, if not nil, makes the pipeline keep duplicates and mark them.
	// Each worker calls it once. It returns a function that marks the records
	// of a stream with the given indexes, and must not make a record longer. An
	// error ends the run.
	NewMark func() func(s *Stream, duplicates []uint32) error
}

// A Scope selects which records a record is compared with.
type Scope uint8

// The scopes.
const (
	ScopeAll  Scope = iota // all records of the source; its lanes must never be revoked
	ScopeLane              // records of the same lane
)

// defaultRoom is the default of Dedupe.Room.
const defaultRoom = 256 << 10

// A KeySet holds the keys whose first records are durable in every sink and lie
// before the stored positions. A committer calls Seal and Stored; Has may be
// called at the same time, by one goroutine at a time.
type KeySet interface {
	// Has reports whether k is in the set. An error ends the run.
	Has(k codec.Key) (bool, error)
	// Seal makes keys durable, but does not add them to the set yet. It returns
	// the description of the set that includes the keys. The description must
	// be stored in one step with the positions that cover the records of the
	// keys. Seal returns nil if the stored description is up to date. If the
	// description was not stored, or may not have been, the keys of the next
	// call begin with the same keys.
	Seal(keys []codec.Key) (state []byte, err error)
	// Stored declares that the result of the last call of Seal is stored. It adds the
	// keys of that call to the set.
	Stored() error
}

// A KeyCut holds the data that a [KeyCommitter] stores in one step.
type KeyCut struct {
	Ups     []LanePos
	Exact   bool     // Extents are part of the cut
	Extents []Extent // as in CutCommitter.CommitCut
	Keys    []byte   // description of the set of keys; nil: unchanged
}

// A KeyCommitter is a [Committer] that stores positions together with the
// description of a set of keys. With [Options.Dedupe] the pipeline calls
// CommitKeys instead of Commit and CommitCut.
type KeyCommitter interface {
	Committer
	CommitKeys(ctx context.Context, cut KeyCut) error
}

// A DedupeSnapshot is the state of the deduplication of a run.
type DedupeSnapshot struct {
	Duplicates int64     // records found to be duplicates, resolved or not
	Delayed    int64     // records dropped until their messages are delivered again
	Firsts     int64     // records found to be the first of their key
	NoKey      int64     // records without a key; they pass
	Windows    bool      // there is a Window
	Late       int64     // records of a forgotten window; they pass
	Ahead      int64     // records with a time far ahead of earlier times; they pass
	NoTime     int64     // records with a key and without a time; they pass
	Waiting    int       // keys that wait for a commit
	Room       int       // maximum of Waiting
	FullSince  time.Time // since when sources wait for a commit, because there is no room for more keys; zero: they do not wait
	Oldest     Decided
}

// Decided names the oldest batch that no commit can pass, because it is not
// durable yet. Its zero value means no batch.
type Decided struct {
	Lane  string
	Since time.Time // when the decision about its records was made
}
