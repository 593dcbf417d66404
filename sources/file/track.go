package file

import (
	"encoding/hex"
	"io"
	"sync/atomic"
	"time"
	"unique"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// tailBytes is how many bytes of text before a position are hashed to identify
// it.
const tailBytes = 1 << 10

// A digest is a hash of a piece of text.
type digest [16]byte

func digestOf(b []byte) digest { return xxh3.Hash128(b).Bytes() }

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// parseDigest parses the result of String. It returns the zero digest, which no
// text has, for an invalid string.
func parseDigest(s string) (d digest) {
	if b, err := hex.DecodeString(s); err == nil && len(b) == len(d) {
		copy(d[:], b)
	}
	return d
}

// A headKey identifies a track by the length and the digest of the beginning of
// its emitted text.
type headKey struct {
	n   int64
	sum digest
}

// A position is an offset in the text at the end of a batch. When it was
// recorded, no text after it had been emitted.
type position struct {
	off, line int64
	inside    bool                   // within an oversize record
	left      int64                  // if inside: see cutter
	open      *checkpoint.OpenQuotes // the open quotes before off; read-only
	loose     bool                   // the lane is held, and the text before off is not all verified
	tail      digest                 // digest of the last min(off, tailBytes) bytes before off
	sum       uint64                 // hash of the text from track.hashFrom to off
	// state is the state of the hash that sum was taken from, to resume hashing
	// here. It is nil once a later position is committed.
	state *textHash
	head  []byte // directive in force; nil: none, or unknown; read-only
}

// tailLen returns the length of the tail of a position at off.
func tailLen(off int64) int64 { return min(off, tailBytes) }

// A point is a restart point of the file that a track is bound to.
type point struct {
	id     int64
	p      compress.RestartPoint
	stored bool
}

// A life is a stage in the life of a track.
type life uint8

const (
	open  life = iota // there may be more to read
	ended             // its lane has ended, and Finish has not been called yet
	over              // finished
)

// A step is the current activity on a track.
type step uint8

const (
	resting step = iota
	queued
	busy
)

// A track is one text that is read, in one lane. The file that holds the text
// may be renamed or replaced by a copy.
//
// While step is busy, read belongs to the goroutine that reads the track; otherwise to
// the holder of watcher.mu. All other fields are guarded by watcher.mu.
type track struct {
	id, path, rel string
	sight         sighting
	read          reading
	end           ending
	trouble       trouble
	life          life
	step          step
	lookedAt      time.Time // when a reader last looked at the file
	atEnd         bool      // all data was read that the file had in state asRead
	asRead        fileState // state of the file when the last read began
	lane          *engine.Lane
	entry         kept       // the entry in the store
	positions     []position // ends of batches: some committed ones, and all that are not committed
	points        []point
	key           headKey
	unsaved       bool // the track is in progress.unsaved
	expired       bool // removed from the watcher

	squeezed atomic.Bool  // copy of read.in.compressed, for lag
	taken    atomic.Int64 // bytes of the file that were read, for lag
}

// A sighting is what scans have found out about the file of a track.
type sighting struct {
	file     fileState // state of the file when it was last seen
	gen      int64     // number of texts that the file held before
	bound    bool      // bound to a file
	watched  bool      // this process has seen the file
	listed   bool      // found by the last scan
	rotated  bool      // the file no longer has the name under which it was found
	final    bool      // the current end of the file is final
	replaced bool      // its file now holds another text
	reused   bool      // its inode now belongs to another file
	doubt    doubt     // whether its file still holds the text that was read
	met      meeting   // meeting of the bound file
	changed  time.Time
	gone     time.Time // when the file was first missed
	disposed int64     // when on_finish removed the file, in nanoseconds of Unix time, or 0
}

// A reading is how far the text of a track was read.
type reading struct {
	in       content
	cut      cutter
	head     []byte       // known beginning of the text; written under watcher.mu
	brief    []byte       // replaces head in a retired track
	last     []byte       // last bytes before cut.off
	hash     textHash     // hash of the text from hashFrom to cut.off
	hashFrom int64        // earlier text was not hashed; never changes
	csv      []byte       // header record
	parsed   bool         // csv is known
	intact   bool         // skip-file: the file was verified
	seen     *examination // quarantine by reading twice: what may be emitted now
	held     bool         // the lane, once there is one, is held: checkpoints cover only verified text
	closed   bool         // the unverified part is withdrawn: nothing more is emitted
	raw      handle       // the open file, from which the withdrawn part is stored
	stamp    int64        // creation time of the bound file, or 0: see born
}

// An ending is how a track ends.
type ending struct {
	complete  bool // the file is complete, so on_finish applies
	finishing bool // done, but on_finish has not been applied yet
	reported  bool // reported in this run
	state     checkpoint.State
	verdict   compress.Verdict
	text      string  // text of the verdict, for the checkpoint
	found     *Report // see report
}

// trouble is why a track cannot be read now.
type trouble struct {
	failure string
	tries   int       // consecutive failures
	retry   time.Time // time of the next attempt
}

// content is the open file of a track.
type content struct {
	f          handle
	zr         *compress.Reader // nil: not decompressing, or plain
	compressed bool
	pos        int64 // plain: offset of the next read
	bound      bool  // limit applies
	limit      int64 // not plain: how many bytes of the text may be read
}

// read reads the next bytes. io.EOF means that there are no more now.
func (c *content) read(p []byte) (int, error) {
	if c.zr != nil {
		if c.bound {
			p = p[:max(0, min(int64(len(p)), c.limit-c.zr.Bytes()))]
			if len(p) == 0 {
				return 0, io.EOF
			}
		}
		return c.zr.Read(p)
	}
	n, err := c.f.next(p, c.pos)
	c.pos += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// rest releases the decompressor, but does not close the file.
func (c *content) rest() {
	if c.zr != nil {
		c.zr.Close()
		c.zr = nil
	}
}

// report returns the report on t, to be filled in.
func (t *track) report() *Report {
	if t.end.found == nil {
		t.end.found = new(Report)
	}
	return t.end.found
}

// A kept is the part of a stored entry that describe cannot reconstruct. There
// may be a hundred thousand of them.
type kept struct {
	Offset, Line, HashFrom, Restart int64
	Left                            int64
	Tail, Hash, Directive           string
	State                           checkpoint.State
	Inside                          bool
	Open                            *checkpoint.OpenQuotes
}

// keptOf returns the part of e to keep.
func keptOf(e checkpoint.Entry) kept {
	return kept{
		Offset: e.Offset, Line: e.Line, HashFrom: e.HashFrom, Restart: e.Restart,
		Tail: e.Tail, Hash: e.Hash, Directive: unique.Make(e.Directive).Value(), State: e.State, Inside: e.Inside, Left: e.Left, Open: e.Open,
	}
}

// entry returns an entry with the kept part filled in.
func (k *kept) entry() checkpoint.Entry {
	return checkpoint.Entry{
		Offset: k.Offset, Line: k.Line, HashFrom: k.HashFrom, Restart: k.Restart,
		TailLen: tailLen(k.Offset), Tail: k.Tail, Hash: k.Hash, Directive: k.Directive, State: k.State, Inside: k.Inside, Left: k.Left, Open: k.Open,
	}
}

// at returns the last position, at which reading resumes.
func (t *track) at() position {
	if len(t.positions) == 0 {
		return position{line: 1}
	}
	return t.positions[len(t.positions)-1]
}

// keepPositions is how many committed positions are kept: the copy that
// copytruncate leaves behind ends at or near such a position.
const keepPositions = 16

// maxStoredDirective is the longest directive that a checkpoint holds. A longer
// one is found again by reading the file.
const maxStoredDirective = 16 << 10

// commit records that the text before pos is durable. It returns the entry to
// store.
func (t *track) commit(pos int64) checkpoint.Entry {
	i := 0
	for i+1 < len(t.positions) && t.positions[i+1].off <= pos {
		i++
	}
	e := t.entry.entry()
	if len(t.positions) > 0 && t.positions[i].off <= pos {
		p := t.positions[i]
		e.Offset, e.Line, e.Inside, e.Left, e.Open = p.off, p.line, p.inside, p.left, p.open
		e.TailLen, e.Tail = tailLen(p.off), p.tail.String()
		e.Directive = ""
		if len(p.head) <= maxStoredDirective {
			e.Directive = string(p.head)
		}
		if p.state != nil {
			e.Hash, e.HashFrom = p.state.text(), t.read.hashFrom
		}
	}
	for j := range i {
		t.positions[j].state = nil // positions only grow
	}
	if i >= keepPositions {
		t.positions = append(t.positions[:0], t.positions[i-keepPositions+1:]...)
	}
	e.Restart = 0
	if p := t.pointBefore(e.Offset); p != nil {
		e.Restart = p.id
	}
	return e
}

// pointBefore returns the latest restart point from which the tail of the
// position at off can be read, or nil.
func (t *track) pointBefore(off int64) *point {
	for i := len(t.points) - 1; i >= 0; i-- {
		if p := &t.points[i]; p.p.Offset() <= off-tailLen(off) {
			return p
		}
	}
	return nil
}

// describe fills in the fields of an entry besides the position.
func (t *track) describe(e checkpoint.Entry, source string) checkpoint.Entry {
	e.Source, e.ID, e.Path, e.Rel = source, t.id, t.path, t.rel
	e.Dev, e.Ino, e.Size, e.ModTime, e.Changed, e.Gen = t.sight.file.id.dev, t.sight.file.id.ino, t.sight.file.size, t.sight.file.mtime, t.sight.file.changed, t.sight.gen
	withdrawn := t.end.state == checkpoint.Reading && e.State == checkpoint.Quarantined
	e.State, e.Verdict, e.Rotated, e.Finishing, e.Gone, e.Disposed = t.end.state, t.end.text, t.sight.rotated, t.end.finishing, 0, t.sight.disposed
	if withdrawn {
		e.State = checkpoint.Quarantined
	}
	if !t.sight.gone.IsZero() {
		e.Gone = t.sight.gone.Unix()
	}
	if n := min(t.key.n, e.Offset); n == t.key.n {
		e.HeadLen, e.Head = n, t.key.sum.String()
	} else {
		e.HeadLen, e.Head = n, digestOf(t.read.head[:n]).String()
	}
	if e.Line == 0 {
		e.Line = 1
	}
	return e
}

// restored returns the track of an entry, not bound to a file.
func restored(e checkpoint.Entry) *track {
	t := &track{
		id: e.ID, path: e.Path, rel: e.Rel, entry: keptOf(e),
		sight: sighting{
			file: fileState{path: e.Path, rel: e.Rel, id: fileID{e.Dev, e.Ino}, stamps: stamps{e.Size, e.ModTime, e.Changed}},
			gen:  e.Gen, rotated: e.Rotated, disposed: e.Disposed,
		},
		end: ending{state: e.State, text: e.Verdict, finishing: e.Finishing},
		key: headKey{e.HeadLen, parseDigest(e.Head)},
	}
	switch e.State {
	case checkpoint.Reading:
	case checkpoint.Quarantined:
		t.end.state, t.read.closed = checkpoint.Reading, true
	default:
		t.life = over
	}
	if e.Gone != 0 {
		t.sight.gone = time.Unix(e.Gone, 999_999_999) // the file disappeared no later than this
	}
	t.read.hash, t.read.hashFrom = storedHash(&e)
	h := t.read.hash
	t.positions = []position{{off: e.Offset, line: e.Line, inside: e.Inside, left: e.Left, open: e.Open, tail: parseDigest(e.Tail), sum: h.Sum64(), state: &h, head: []byte(e.Directive)}}
	t.read.cut = cutter{off: e.Offset, line: e.Line, oversize: e.Inside, left: e.Left, begun: -1, open: e.Open}
	return t
}
