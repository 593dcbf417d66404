package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// This file answers what a file is that no track is bound to: one that was read
// before and is known by its inode; one that was known under another inode, moved
// or compressed since; a copy of one that is still there, which rotation makes just
// before it takes the other away; or a new one.
//
// What is a copy and what is a file of its own that happens to begin in the same
// way can only be told by what comes next. So a young file that could be a copy is
// held back, and nothing is lost but time, at most rotate_wait.

// A candidate is a file that is not known yet.
type candidate struct {
	s fileState
	meeting
	listed   bool
	checking bool
	checked  map[*track]checked // with what a compressed text was compared
	asked    []wanted
	told     bool // that it cannot be read was reported
	tries    int  // to open it that have failed
	copied   bool // it is the compressed form of a file that is there, too: it is not read

	compressed bool // as it was looked at last
}

// A meeting says for how long a file is known as it is.
type meeting struct {
	since time.Time // when it was seen last to have changed
	scans int       // how many scans have seen it so
}

// A checked is what became of a comparison.
type checked struct {
	off    int64 // of the position
	answer answer
	rest   rest  // what comes after it
	upto   int64 // the last position that was asked for: there the answer may be another one
}

// close releases what p holds.
func (p *candidate) close(*watcher) { p.asked = nil }

// A look is the beginning of a file.
type look struct {
	f          *os.File
	head       []byte // of the text
	compressed bool
	stamp      int64 // see born
	at         func(point string) error
	err        error // of reading more of the file: what was compared with it means nothing
}

// lookAt opens a file and reads its beginning. The caller closes f, or keeps it.
func (o *opener) lookAt(s *fileState) (*look, error) {
	f, err := o.openAs(s.path, s.id)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, o.cfg.FingerprintBytes)
	n, err := readFile{f, o.at}.ReadAt(raw, 0)
	if err != nil && err != io.EOF {
		_ = f.Close()
		return nil, err
	}
	l := &look{f: f, head: raw[:n], stamp: born(f), at: o.at}
	if l.compressed = needsReader(raw[:min(n, rawHead)], s.path); l.compressed {
		zr := compress.NewReader(onlyRead{readFile{f, o.at}}, compress.Options{Limits: compressLimits(o.cfg.Limits), Name: s.path})
		defer zr.Close()
		n, _ = io.ReadFull(zr, raw)
		l.head = raw[:n]
		if err := zr.Err(); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return l, nil
}

// consider decides what p is, if that can be told now. It reports whether p is
// decided. The caller holds mu.
func (w *watcher) consider(p *candidate, own *track, l *look, now time.Time) bool {
	p.compressed = l.compressed
	fits := own != nil && !own.replaced && !own.reused && w.known.fits(own, p, l)
	if l.err != nil {
		w.unreadableFile(p, l.err)
		return false
	}
	if fits {
		switch same, known := w.known.sameStill(own, p, l); {
		case !known:
			return false
		case same:
			w.bind(own, p, l, now)
			return true
		}
	}
	gen := int64(0)
	if own != nil {
		own.reused = true
		gen = own.gen + 1
	}
	best, hold := w.known.compare(p, l, now)
	switch {
	case l.err != nil:
		w.unreadableFile(p, l.err)
		return false
	case hold:
		return false
	case best != nil:
		w.log.Info("a file has the text of another one that is gone: it is read on", "path", p.s.path, "was", best.path,
			"read", best.at().off, "verified", best.howKnown())
		best.rotated = best.rotated || best.path != p.s.path
		best.points, best.entry.Restart = nil, 0 // they are of the other file
		w.bind(best, p, l, now)
		return true
	}
	w.adopt(p, l, gen, now)
	return true
}

// fits reports whether a file that has the inode of t has its text, too. The tail
// of a compressed one is looked at when it is opened.
func (c *catalog) fits(t *track, p *candidate, l *look) bool {
	if t.step != resting || t.life == ended || c.outlived(t, p, l) {
		return false
	}
	at := t.at()
	if at.off == 0 {
		return !t.another(l)
	}
	if int64(len(l.head)) < t.key.n || digestOf(l.head[:t.key.n]) != t.key.sum {
		return false
	}
	return l.compressed || p.s.size >= at.off && l.tailAt(at.off) == at.tail
}

// another reports whether a file with the inode of the one that t was bound to is
// another one, which got the inode after that was gone. It is for tracks of whose
// text nothing was emitted: any other is known by that.
func (t *track) another(l *look) bool {
	if t.stamp != 0 && l.stamp != 0 {
		return t.stamp != l.stamp
	}
	if len(t.head) == 0 {
		return false // nothing is known of it
	}
	return t.in.compressed != l.compressed || !sameBeginning(t.head, l.head)
}

// tailAt returns the digest of what lies before off.
func (l *look) tailAt(off int64) digest {
	var buf [tailBytes]byte
	tail := buf[:tailLen(off)]
	n, err := readFile{l.f, l.at}.ReadAt(tail, off-int64(len(tail)))
	if n < len(tail) {
		if err != io.EOF {
			l.err = err
		}
		return digest{}
	}
	return digestOf(tail)
}

// compare looks for tracks that p may be a copy of. It returns the one that p
// takes the place of, or whether it is too early to tell.
func (c *catalog) compare(p *candidate, l *look, now time.Time) (best *track, hold bool) {
	young := c.young(p, now)
	p.copied = false
	if c.veiled && slices.ContainsFunc(c.tracks, func(t *track) bool { return t.veiled() && sameBeginning(t.head, l.head) }) {
		return nil, true // it may be a copy of what is just about to be known
	}
	var orig *track
	if l.compressed {
		orig = c.original(p)
		first := !c.ends && p.scans == 1 // what it was made of may have been listed before it was renamed
		if young && (first || orig != nil || len(l.head) < int(c.cfg.FingerprintBytes)) {
			return nil, true // there is too little of it yet
		}
		if orig != nil && orig.awaited(l) {
			return nil, true // nothing of it was read yet that l could be compared with
		}
	}
	similar := c.sameHead(p, l, young, orig)
	if len(similar) == 0 {
		return nil, false
	}
	if ready := c.compared(p, l, similar, orig, young, now); !ready {
		return nil, true
	}
	for _, t := range similar {
		same, short := c.sameText(p, l, t)
		switch {
		case t == orig && p.copies(t, same):
			p.copied, hold = same && t.settled(), true
		case same && t.free():
			if best == nil || t.at().off > best.at().off {
				best = t
			}
		case short && t.free() && t.replaced && young:
			if best == nil {
				best = t // a copy of what was truncated, made before the last of it was read
			}
		case (same || short) && (young || !t.free() && !t.sure()):
			hold = true
		}
	}
	return best, hold && best == nil
}

// awaited reports whether t has yet to be read, and may have the text of l then.
func (t *track) awaited(l *look) bool {
	return t.life == open && t.at().off == 0 && t.file.size > 0 && t.failure == "" && sameBeginning(t.head, l.head)
}

// settled reports whether all that there is of t was read.
func (t *track) settled() bool { return t.life == over || t.step == resting && t.atEnd }

// copies reports whether p, which has the text of its original t as far as that was
// read, or had it when they were compared, is a copy of it. Once t is read to its end,
// a file with more text is none.
func (p *candidate) copies(t *track, same bool) bool {
	if !t.settled() {
		return same || p.checked[t].answer == agrees
	}
	return same && p.checked[t].rest != restText
}

// free reports whether the text of t is in no file that is known.
func (t *track) free() bool { return !t.bound && t.life != ended && t.step == resting }

// fewScans is how many scans have to see a file before it is taken for one of its
// own, however much time they took: while a scan goes through a folder files are
// renamed there, so it may see what has never been at one moment.
const fewScans = 3

// sameBeginning reports whether one of two beginnings goes on as the other does.
func sameBeginning(a, b []byte) bool {
	n := min(len(a), len(b))
	return bytes.Equal(a[:n], b[:n])
}

// sure reports whether t is in the file that it is bound to. One that is not open
// may be gone and its inode that of another file, if that is not as it was: the next
// reading tells.
func (t *track) sure() bool {
	switch {
	case !t.listed, t.step == busy, t.life == ended:
		return false
	}
	return t.life == over || t.in.f != nil || t.file.same(&t.asRead)
}

// young reports whether p has changed so lately that a rotation may be under way.
// A clock that jumps does not make it so for ever.
func (c *catalog) young(p *candidate, now time.Time) bool {
	if p.scans < fewScans && !c.ends {
		return true
	}
	age := now.Sub(time.Unix(0, p.s.changed))
	return age < c.cfg.RotateWait && now.Sub(p.since) < c.cfg.RotateWait
}

// original returns the track of the file that p is the compressed form of, by its
// name, if that is still there: who compresses takes it away when he is done.
func (c *catalog) original(p *candidate) *track {
	path := stem(p.s.path)
	if path == "" {
		return nil
	}
	for _, t := range c.tracks {
		if t.bound && t.path == path && !t.squeezed.Load() {
			return t
		}
	}
	return nil
}

// stem returns the path of what a file is the compressed form of, by its name, or
// nothing.
func stem(path string) string {
	if !compress.Compressed(path) {
		return ""
	}
	return strings.TrimSuffix(path, filepath.Ext(path))
}

// outlived reports whether p was made when the file of t was gone already: it is no
// copy of that, and not that file, though it may begin as it does, or be all the same.
// A copy that is made elsewhere may arrive a while later, but not of what on_finish
// took away.
func (c *catalog) outlived(t *track, p *candidate, l *look) bool {
	made := l.stamp
	if made == 0 {
		made = p.s.changed
	}
	switch {
	case t.disposed != 0:
		return made >= t.disposed // in one tick of the clock of files: read twice rather than never
	case t.bound || t.gone.IsZero():
		return false
	}
	return made > t.gone.Add(c.cfg.RotateWait).UnixNano()
}

// mayBe reports whether p may be made of the file of t, by its name: if on_finish took
// that away, it is only what a rotation was just compressing. Any other file was there
// beside it, and is one of its own.
func (t *track) mayBe(p *candidate) bool { return t.disposed == 0 || stem(p.s.path) == t.path }

// sameHead returns the tracks that begin as l does, orig among them if that is
// one.
func (c *catalog) sameHead(p *candidate, l *look, young bool, orig *track) []*track {
	var found []*track
	head := l.head
	add := func(t *track) {
		if t.at().off > 0 && (t.free() || young || !t.sure() || t == orig) && !c.outlived(t, p, l) && t.mayBe(p) && !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	for n := range c.headLens {
		if n <= int64(len(head)) && n > 0 {
			for _, t := range c.heads[headKey{n, digestOf(head[:n])}] {
				add(t)
			}
		}
	}
	if len(head) > 0 && len(head) < int(c.cfg.FingerprintBytes) {
		for _, t := range c.tracks {
			if int64(len(head)) < t.key.n && t.begins(head) {
				add(t)
			}
		}
	}
	return found
}

// sameText reports whether p has all of the text of t that was emitted, or, being
// shorter than that, a beginning of it, as far as that can be told.
func (c *catalog) sameText(p *candidate, l *look, t *track) (same, short bool) {
	at := t.at()
	if l.compressed {
		got, ok := p.checked[t]
		same = ok && got.answer == agrees && got.off == at.off
		return same, ok && !same && got.answer >= tooShort
	}
	if p.s.size >= at.off {
		same = l.tailAt(at.off) == at.tail
		if same && t.free() && t.mustHash() {
			got, ok := p.checked[t]
			same = ok && got.answer == agrees && got.off == at.off
		}
		return same, false
	}
	for i := len(t.positions) - 1; i >= 0; i-- {
		if q := t.positions[i]; q.off <= p.s.size && q.off > 0 {
			return false, l.tailAt(q.off) == q.tail
		}
	}
	return false, true
}

// sameStill reports whether p, which has the inode, the head and the tail of own,
// still has its text: it does if it has not changed, or grew. Else the text has to be
// read and hashed, and it is not known before that is done. A file that was made after
// the last change of the one that own has read only got its inode.
func (c *catalog) sameStill(own *track, p *candidate, l *look) (same, known bool) {
	if own.at().off > 0 && own.file.changed != 0 && l.stamp > own.file.changed {
		return false, true
	}
	if own.at().off == 0 || !own.file.rewritten(&p.s, p.s.path != own.path) {
		return true, true
	}
	got, ok := p.checked[own]
	if !ok || got.upto != own.at().off {
		if !p.checking {
			c.ask(p, []wanted{want(own)})
		}
		return false, false
	}
	return got.answer == agrees && got.off == got.upto, true
}

// compared sees to it that p is compared with similar as far as that takes reading it:
// a job. It reports whether that was done.
func (c *catalog) compared(p *candidate, l *look, similar []*track, orig *track, young bool, now time.Time) bool {
	if p.checking || l.compressed && young && now.Sub(p.since) < min(c.cfg.RotateWait/2, 2*c.cfg.PollInterval) {
		return false // it is still growing: all of it would be read again
	}
	var asked []wanted
	for _, t := range similar {
		at := t.at()
		if !l.compressed && !(t.free() && t.mustHash() && p.s.size >= at.off && l.tailAt(at.off) == at.tail) {
			continue // what l has tells
		}
		moved := t.free() || t == orig && t.settled()
		if got, ok := p.checked[t]; !ok || moved && got.upto != at.off && (got.answer == agrees || !l.compressed) {
			asked = append(asked, want(t))
		}
		for _, q := range t.positions {
			if _, ok := p.checked[t]; !ok && l.compressed && t.replaced && q.off > 0 {
				asked = append(asked, wanted{t, t.hashFrom, q})
			}
		}
	}
	if len(asked) == 0 {
		return true
	}
	c.ask(p, asked)
	return false
}

// ask lets p be compared with positions. The caller holds mu.
func (c *catalog) ask(p *candidate, asked []wanted) {
	p.asked, p.checking = asked, true
	c.crew.enqueue(&c.crew.checking, p)
}

// do implements job: it compares the text of a file with that of tracks, at the
// positions that are asked for.
func (p *candidate) do(ctx context.Context, w *watcher) {
	w.mu.Lock()
	was, asked := p.s, slices.Clone(p.asked)
	w.mu.Unlock()
	slices.SortStableFunc(asked, func(a, b wanted) int { return cmp.Compare(a.p.off, b.p.off) })
	answers, after := make([]answer, len(asked)), restUnknown
	f, err := w.files.openAs(was.path, was.id)
	if err == nil {
		after, err = w.texts.compareText(ctx, f, was.path, asked, answers)
		_ = f.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.checking = false
	w.crew.nudge()
	if err != nil || !p.s.same(&was) && (p.compressed || p.s.rewritten(&was, false)) {
		w.uncompared(p, err)
		return
	}
	if p.checked == nil {
		p.checked = map[*track]checked{}
	}
	for i, a := range asked {
		w.texts.logAnswer(p.s.path, &asked[i], answers[i])
		p.note(&asked[i], answers[i])
		if c := p.checked[a.t]; c.off == asked[len(asked)-1].p.off {
			c.rest = after
			p.checked[a.t] = c
		}
	}
}

// note notes the answer for a position. An agreement stays when the text differs
// later on: then p is a copy of a beginning.
func (p *candidate) note(a *wanted, got answer) {
	c, ok := p.checked[a.t]
	if !ok || got == agrees || c.off < a.p.off && c.answer != agrees {
		c.off, c.answer, c.rest = a.p.off, got, restUnknown
	}
	c.upto = max(c.upto, a.p.off)
	p.checked[a.t] = c
}

// uncompared notes that p could not be compared with anything: it has changed since,
// or cannot be read. The next poll asks again.
func (w *watcher) uncompared(p *candidate, err error) {
	if err != nil && !errors.Is(err, errStopped) && !errors.Is(err, errMoved) && !errors.Is(err, fs.ErrNotExist) {
		w.unreadableFile(p, err)
	}
}
