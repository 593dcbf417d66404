package file

import (
	"encoding/hex"
	"io"
	"os"
	"sync/atomic"
	"time"
	"unique"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline"
)

// tailBytes is how much of the text before a position it is known by.
const tailBytes = 1 << 10

// A digest is a hash of a piece of text.
type digest [16]byte

func digestOf(b []byte) digest { return xxh3.Hash128(b).Bytes() }

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// parseDigest reads what String returns. What is none is the zero digest, which
// no text has.
func parseDigest(s string) (d digest) {
	if b, err := hex.DecodeString(s); err == nil && len(b) == len(d) {
		copy(d[:], b)
	}
	return d
}

// A headKey is what a track is found by: the length and the digest of the
// beginning of its text, as far as it was emitted.
type headKey struct {
	n   int64
	sum digest
}

// A position is an offset in the text behind which nothing was emitted when it was
// noted: the end of a batch.
type position struct {
	off, line int64
	inside    bool   // of an oversize record
	left      int64  // then: see cutter
	loose     bool   // the lane is held, and not all before it is verified
	tail      digest // of the last min(off, tailBytes) bytes before it
	sum       uint64 // hash of the text from track.hashFrom to off
	// state is that of sum: to go on from here. Nil once a later position is
	// committed.
	state *textHash
	head  []byte // the directive in force, nil if there is none or it is not known; not to be changed
}

// tailLen returns how many bytes the tail of a position at off has.
func tailLen(off int64) int64 { return min(off, tailBytes) }

// A point is a restart point of the file that a track is bound to.
type point struct {
	id     int64
	p      compress.RestartPoint
	stored bool
}

// A life is how far a track is.
type life uint8

const (
	open  life = iota // there may be more to read
	ended             // its lane has ended, and Finish is waited for
	over              // all is done
)

// A step is what is being done with a track.
type step uint8

const (
	resting step = iota
	queued
	busy
)

// A track is one text that is read: what a lane holds. The file that it is read
// from may be renamed, or change places with a copy.
//
// While step is busy, the fields of the second part belong to the goroutine that
// reads it, else to who holds watcher.mu. All others are guarded by watcher.mu.
type track struct {
	id, path, rel string
	file          fileState // the file as it was seen last
	gen           int64     // how many texts the file has had before
	bound         bool      // there is such a file
	listed        bool      // it was found by the last scan
	rotated       bool      // it does not have the name any more that it was found under
	final         bool      // where it ends now is its end
	complete      bool      // it is at its end for good: on_finish holds for it
	finishing     bool      // it is done, and on_finish was not applied yet
	told          bool      // this run has reported it
	unsaved       bool      // it is in progress.unsaved
	expired       bool      // it is no track of the watcher any more
	changed       time.Time
	gone          time.Time // when it was seen first that there is no such file
	disposed      int64     // when on_finish took the file away, in nanoseconds of Unix time, or 0
	replaced      bool      // its file holds another text now
	met           meeting   // of the file that it is bound to
	reused        bool      // its inode is that of another file now
	doubt         doubt     // whether its file still holds the text that was read
	lookedAt      time.Time // when a reader looked at the file last
	life          life
	step          step
	atEnd         bool      // all that the file has was read, when it was as in asRead
	asRead        fileState // how it was when the last reading began
	state         checkpoint.State
	verdict       compress.Verdict
	text          string  // of the verdict, for the checkpoint
	found         *Report // see report
	lane          *pipeline.Lane
	entry         kept       // what is stored
	positions     []position // ends of batches: some that are committed, and all that are not
	points        []point
	key           headKey
	failure       string    // why it cannot be read now
	tries         int       // that have failed, one after the other
	retry         time.Time // the next one

	in     content
	cut    cutter
	head   []byte       // the beginning of the text, as far as it is known; written under mu
	brief  []byte       // of a retired track, instead of head
	last   []byte       // the last bytes before cut.off
	hash   textHash     // of the text from hashFrom to cut.off
	csv    []byte       // header record
	parsed bool         // csv is known
	intact bool         // skip_file: the file was verified
	seen   *examination // quarantine by reading twice: what may be emitted now
	held   bool         // as its lane is, once it has one: a checkpoint covers what is verified
	closed bool         // what is not verified is withdrawn: nothing more is emitted
	raw    *os.File     // the file, for who keeps what was withdrawn
	stamp  int64        // when the file was made that t is bound to, or 0: see born

	hashFrom int64 // the text before it was not hashed; never changes

	squeezed atomic.Bool  // in.compressed, for lag
	taken    atomic.Int64 // how much of the file was read, for lag

	lostFile bool // there is no file: the lane is to be ended
	carried  bool // nothing is to be read, and what is in cut.tail emitted
}

// content is the file of a track while it is open.
type content struct {
	f          *os.File
	at         func(point string) error // see fault.At
	zr         *compress.Reader         // nil: not decompressing, or plain
	compressed bool
	pos        int64 // plain: offset of the next read
	bound      bool  // limit holds
	limit      int64 // not plain: how much of the text may be read
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
	n, err := readFile{c.f, c.at}.ReadAt(p, c.pos)
	c.pos += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// rest releases what reading needs, and keeps the file open.
func (c *content) rest() {
	if c.zr != nil {
		c.zr.Close()
		c.zr = nil
	}
}

// report returns what is to be told of t, to be filled in.
func (t *track) report() *Report {
	if t.found == nil {
		t.found = new(Report)
	}
	return t.found
}

// A kept is what a track keeps of the entry that is stored for it: what describe
// does not know. There may be a hundred thousand of them.
type kept struct {
	Offset, Line, HashFrom, Restart int64
	Left                            int64
	Tail, Hash, Directive           string
	State                           checkpoint.State
	Inside                          bool
}

// keptOf returns what is kept of e.
func keptOf(e checkpoint.Entry) kept {
	return kept{
		Offset: e.Offset, Line: e.Line, HashFrom: e.HashFrom, Restart: e.Restart,
		Tail: e.Tail, Hash: e.Hash, Directive: unique.Make(e.Directive).Value(), State: e.State, Inside: e.Inside, Left: e.Left,
	}
}

// entry returns an entry with what was kept.
func (k *kept) entry() checkpoint.Entry {
	return checkpoint.Entry{
		Offset: k.Offset, Line: k.Line, HashFrom: k.HashFrom, Restart: k.Restart,
		TailLen: tailLen(k.Offset), Tail: k.Tail, Hash: k.Hash, Directive: k.Directive, State: k.State, Inside: k.Inside, Left: k.Left,
	}
}

// at returns the last position, which is where reading goes on.
func (t *track) at() position {
	if len(t.positions) == 0 {
		return position{line: 1}
	}
	return t.positions[len(t.positions)-1]
}

// keepPositions is how many positions are kept that are committed: what copytruncate
// leaves behind ends at or near one of them.
const keepPositions = 16

// maxStoredDirective is the longest directive that a checkpoint holds. A longer one
// is found by reading the file again.
const maxStoredDirective = 16 << 10

// commit notes that all before pos is durable. It returns the entry that says so.
func (t *track) commit(pos int64) checkpoint.Entry {
	i := 0
	for i+1 < len(t.positions) && t.positions[i+1].off <= pos {
		i++
	}
	e := t.entry.entry()
	if len(t.positions) > 0 && t.positions[i].off <= pos {
		p := t.positions[i]
		e.Offset, e.Line, e.Inside, e.Left = p.off, p.line, p.inside, p.left
		e.TailLen, e.Tail = tailLen(p.off), p.tail.String()
		e.Directive = ""
		if len(p.head) <= maxStoredDirective {
			e.Directive = string(p.head)
		}
		if p.state != nil {
			e.Hash, e.HashFrom = p.state.text(), t.hashFrom
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

// pointBefore returns the newest restart point from which the tail of the position
// at off can be read, or nil.
func (t *track) pointBefore(off int64) *point {
	for i := len(t.points) - 1; i >= 0; i-- {
		if p := &t.points[i]; p.p.Offset() <= off-tailLen(off) {
			return p
		}
	}
	return nil
}

// dropPoints forgets the restart points before the one of the entry.
func (t *track) dropPoints() {
	for len(t.points) > 1 && t.points[0].id != t.entry.Restart && t.points[1].p.Offset() <= t.entry.Offset-tailLen(t.entry.Offset) {
		t.points = t.points[1:]
	}
}

// describe fills in what an entry says beside the checkpoint.
func (t *track) describe(e checkpoint.Entry, source string) checkpoint.Entry {
	e.Source, e.ID, e.Path, e.Rel = source, t.id, t.path, t.rel
	e.Dev, e.Ino, e.Size, e.ModTime, e.Changed, e.Gen = t.file.id.dev, t.file.id.ino, t.file.size, t.file.mtime, t.file.changed, t.gen
	withdrawn := t.state == checkpoint.Reading && e.State == checkpoint.Quarantined
	e.State, e.Verdict, e.Rotated, e.Finishing, e.Gone, e.Disposed = t.state, t.text, t.rotated, t.finishing, 0, t.disposed
	if withdrawn {
		e.State = checkpoint.Quarantined
	}
	if !t.gone.IsZero() {
		e.Gone = t.gone.Unix()
	}
	if n := min(t.key.n, e.Offset); n == t.key.n {
		e.HeadLen, e.Head = n, t.key.sum.String()
	} else {
		e.HeadLen, e.Head = n, digestOf(t.head[:n]).String()
	}
	if e.Line == 0 {
		e.Line = 1
	}
	return e
}

// restored returns the track of an entry, bound to no file.
func restored(e checkpoint.Entry) *track {
	t := &track{
		id: e.ID, path: e.Path, rel: e.Rel, gen: e.Gen, entry: keptOf(e),
		file:  fileState{path: e.Path, rel: e.Rel, id: fileID{e.Dev, e.Ino}, size: e.Size, mtime: e.ModTime, changed: e.Changed},
		state: e.State, text: e.Verdict, rotated: e.Rotated, finishing: e.Finishing, disposed: e.Disposed,
		key: headKey{e.HeadLen, parseDigest(e.Head)},
	}
	switch e.State {
	case checkpoint.Reading:
	case checkpoint.Quarantined:
		t.state, t.closed = checkpoint.Reading, true
	default:
		t.life = over
	}
	if e.Gone != 0 {
		t.gone = time.Unix(e.Gone, 999_999_999) // at the latest
	}
	t.hash, t.hashFrom = storedHash(&e)
	h := t.hash
	t.positions = []position{{off: e.Offset, line: e.Line, inside: e.Inside, left: e.Left, tail: parseDigest(e.Tail), sum: h.Sum64(), state: &h, head: []byte(e.Directive)}}
	t.cut = cutter{off: e.Offset, line: e.Line, oversize: e.Inside, left: e.Left, begun: -1}
	return t
}
