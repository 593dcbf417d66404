package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// This file identifies files that no track is bound to. Each is one of four: a file
// that was read before and is known by its inode; a file that was known under another
// inode and has been moved or compressed since; a copy of a file that still exists,
// which rotation makes just before it removes the original; or a new file.
//
// Only later data can distinguish a copy from a separate file that happens to
// begin in the same way. A recently changed file that could be a copy is
// therefore held back for at most rotate_wait. That costs time, but loses
// nothing.

// A candidate is a file that is not yet identified.
type candidate struct {
	s fileState
	meeting
	listed   bool
	checked  map[*track]checked // results of comparing a compressed text with tracks
	asked    []wanted           // the comparison in progress; nil: none
	reported bool               // a report says that the file cannot be read
	tries    int                // failed attempts to open it
	copied   bool               // compressed form of a file that still exists: it is not read
	alike    *track             // a track with the same beginning but another name; nil: none

	compressed bool // as of the last look
}

// A meeting records for how long a file has been unchanged.
type meeting struct {
	since time.Time // when the last change was seen
	scans int       // scans that have seen the file unchanged
}

// A checked is the result of a comparison.
type checked struct {
	off    int64 // offset of the position
	answer answer
	rest   rest  // what follows the position
	upto   int64 // the last position that was compared; at a later position the answer may differ
}

// close releases the memory that p holds.
func (p *candidate) close(*watcher) { p.asked = nil }

// A look is the beginning of a file.
type look struct {
	f          handle
	head       []byte // beginning of the decompressed text
	compressed bool
	stamp      int64 // see born
	err        error // error of reading more of the file; if set, comparisons with l are void
}

// lookAt opens a file and reads its beginning. The caller closes or keeps l.f.
func (o *opener) lookAt(s *fileState) (*look, error) {
	f, err := o.store.open(s.path, s.id)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, o.cfg.FingerprintBytes)
	n, err := f.ReadAt(raw, 0)
	if err != nil && err != io.EOF {
		_ = f.Close()
		return nil, err
	}
	l := &look{f: f, head: raw[:n], stamp: f.born()}
	if l.compressed = needsReader(raw[:min(n, rawHead)], s.path); l.compressed {
		zr := compress.NewReader(onlyRead{f}, decoding(o.cfg.Limits, s.path))
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

// consider identifies p if that is already possible, and reports whether it
// did. The caller holds mu.
func (w *watcher) consider(p *candidate, own *track, l *look, now time.Time) bool {
	p.compressed = l.compressed
	fits := own != nil && !own.sight.replaced && !own.sight.reused && w.known.fits(own, p, l)
	if l.err != nil {
		w.unreadableFile(p, l.err)
		return false
	}
	if fits {
		switch same, known := w.known.sameStill(own, p, l); {
		case !known:
			return false
		case same:
			w.bound.bind(own, p, l, now)
			return true
		}
	}
	gen := int64(0)
	if own != nil {
		own.sight.reused = true
		gen = own.sight.gen + 1
	}
	best, hold := w.known.compare(p, l, now)
	switch {
	case l.err != nil:
		w.unreadableFile(p, l.err)
		return false
	case hold:
		return false
	case best != nil:
		w.log.Info("file recognized by its content, reading resumed", "path", p.s.path, "was", best.path,
			"read", best.at().off, "verified", best.howKnown())
		if !best.sight.watched && best.path == p.s.path {
			w.log.Warn("file replaced between runs, common beginning counts as read", "path", p.s.path, "read", best.at().off)
		}
		best.sight.rotated = best.sight.rotated || best.path != p.s.path
		best.points, best.entry.Restart = nil, 0 // the points belong to the other file
		w.bound.bind(best, p, l, now)
		return true
	}
	if t := p.alike; t != nil && p.s.size >= t.at().off && (p.s.size == t.at().off || t.at().off >= int64(w.cfg.FingerprintBytes)) && l.tailAt(t.at().off) == t.at().tail {
		w.log.Warn("file contains the text of a removed file, reading from the beginning", "path", p.s.path, "was", t.path, "bytes", t.at().off)
	}
	w.bound.adopt(p, l, gen, now, w.cfg.Start == startEnd && w.fresh && !w.scanned && !l.compressed)
	return true
}

// fits reports whether a file that has the inode of t also has its text. The
// tail of a compressed file is compared later, when the file is opened.
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

// another reports whether a file that has the inode of the file of t is a
// different file, which got the inode after the file of t was deleted. Call
// another only for tracks that have emitted nothing, because other tracks
// are identified by their text.
func (t *track) another(l *look) bool {
	if t.read.stamp != 0 && l.stamp != 0 {
		return t.read.stamp != l.stamp
	}
	if len(t.read.head) == 0 {
		return false // its content is unknown
	}
	return t.read.in.compressed != l.compressed || !sameBeginning(t.read.head, l.head)
}

// tailAt returns the digest of the bytes before off.
func (l *look) tailAt(off int64) digest {
	var buf [tailBytes]byte
	tail := buf[:tailLen(off)]
	n, err := l.f.ReadAt(tail, off-int64(len(tail)))
	if n < len(tail) {
		if err != io.EOF {
			l.err = err
		}
		return digest{}
	}
	return digestOf(tail)
}

// compare searches for tracks whose text p may repeat. It returns the track to
// continue in p, or nil. hold reports that it is too early to decide.
func (c *catalog) compare(p *candidate, l *look, now time.Time) (best *track, hold bool) {
	young := c.young(p, now)
	p.copied = false
	if c.veiled && slices.ContainsFunc(c.tracks, func(t *track) bool { return t.veiled() && sameBeginning(t.read.head, l.head) }) {
		return nil, true // the file may be a copy of a file that is about to be read
	}
	var orig *track
	if l.compressed {
		orig = c.original(p)
		first := !c.cfg.ends() && p.scans == 1 // the original of this file may have been renamed since it was listed
		if young && (first || orig != nil || len(l.head) < int(c.cfg.FingerprintBytes)) {
			return nil, true // not enough data yet
		}
		if orig != nil && orig.awaited(l) {
			return nil, true // nothing was read yet that l could be compared with
		}
	} else if t := c.copiedFrom(p); young && t != nil && t.awaited(l) {
		return nil, true // the same text: the original will be truncated
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
		case short && t.free() && t.sight.replaced && young:
			if best == nil {
				best = t // a copy of a truncated file, made before its last data was read
			}
		case (same || short) && (young || !t.free() && !t.sure()):
			hold = true
		}
	}
	return best, hold && best == nil
}

// awaited reports whether t has not been read yet but may turn out to hold the
// text of l.
func (t *track) awaited(l *look) bool {
	return t.life == open && t.at().off == 0 && t.sight.file.size > 0 && t.trouble.failure == "" && sameBeginning(t.read.head, l.head)
}

// copiedFrom returns the track of whose file p may be a copy, judging by the
// name of p, if nothing was read from that file yet. Rotation with copytruncate
// leaves the copy in the folder of the original, or in a folder below it.
func (c *catalog) copiedFrom(p *candidate) *track {
	folder, name := filepath.Split(p.s.path)
	base := rotatedFrom(name)
	if base == "" {
		return nil
	}
	if t := c.unread[folder+base]; t != nil {
		return t
	}
	return c.unread[filepath.Join(folder, "..", base)]
}

// settled reports whether all available data of t was read.
func (t *track) settled() bool { return t.life == over || t.step == resting && t.atEnd }

// copies reports whether p is a copy of its original t. same says that p has
// the text of t as far as that text has been read; an earlier agreement also
// counts while t is being read. Once all of t is read, a file with more text
// is not a copy.
func (p *candidate) copies(t *track, same bool) bool {
	if !t.settled() {
		return same || p.checked[t].answer == agrees
	}
	return same && p.checked[t].rest != restText
}

// free reports whether the text of t is in no known file.
func (t *track) free() bool { return !t.sight.bound && t.life != ended && t.step == resting }

// fewScans is the number of scans that must see a file unchanged until it counts as a
// separate file, however long the scans take. A program may rename files while a scan
// reads a folder, so a single scan may see a state that never existed.
const fewScans = 3

// sameBeginning reports whether a is a prefix of b or b a prefix of a.
func sameBeginning(a, b []byte) bool {
	n := min(len(a), len(b))
	return bytes.Equal(a[:n], b[:n])
}

// sure reports whether the text of t is certainly in the file that t is bound to. If
// the file is not open and has changed, it may have been deleted and its inode reused;
// the next read will detect that.
func (t *track) sure() bool {
	switch {
	case !t.sight.listed, t.step == busy, t.life == ended:
		return false
	}
	return t.life == over || t.read.in.f != nil || t.sight.file.same(&t.asRead)
}

// young reports whether p changed so recently that a rotation may be in
// progress. A clock that jumps does not keep it young forever.
func (c *catalog) young(p *candidate, now time.Time) bool {
	if p.scans < fewScans && !c.cfg.ends() {
		return true
	}
	age := now.Sub(time.Unix(0, p.s.changed))
	return age < c.cfg.RotateWait && now.Sub(p.since) < c.cfg.RotateWait
}

// original returns the track of the file that was compressed to p, judging by
// the name of p, if that file still exists: a compressor removes the original
// when it is done.
func (c *catalog) original(p *candidate) *track {
	path := stem(p.s.path)
	if path == "" {
		return nil
	}
	for _, t := range c.tracks {
		if t.sight.bound && t.path == path && !t.squeezed.Load() {
			return t
		}
	}
	return nil
}

// stem returns the path of the original of a compressed file, judging by its
// name, or "".
func stem(path string) string {
	if !compress.Compressed(path) {
		return ""
	}
	return strings.TrimSuffix(path, filepath.Ext(path))
}

// outlived reports whether p was created after the file of t was gone. Then p
// is neither a copy of that file nor that file itself, even if their contents
// are equal. A copy made elsewhere may arrive somewhat later, but not a copy of
// a file that on_finish removed.
func (c *catalog) outlived(t *track, p *candidate, l *look) bool {
	made := l.stamp
	if made == 0 {
		made = p.s.changed
	}
	switch {
	case t.sight.disposed != 0:
		return made >= t.sight.disposed // created in the same tick of the file clock: read it twice rather than never
	case t.sight.bound || t.sight.gone.IsZero():
		return false
	}
	return made > t.sight.gone.Add(c.cfg.RotateWait).UnixNano()
}

// mayBe reports whether p, judging by its name, may be derived from the file of
// t. If on_finish removed the file of t, only its compressed form, from an ongoing
// rotation, may be. Any other file existed at the same time as the file of t and is
// separate.
func (t *track) mayBe(p *candidate) bool { return t.sight.disposed == 0 || stem(p.s.path) == t.path }

// sameHead returns the tracks that have the same beginning as l. orig may be one of
// them.
func (c *catalog) sameHead(p *candidate, l *look, young bool, orig *track) []*track {
	var found []*track
	head := l.head
	add := func(t *track) {
		switch {
		case t.at().off == 0 || !t.free() && !young && t.sure() && t != orig || c.outlived(t, p, l) || !t.mayBe(p) || slices.Contains(found, t):
		case t.related(&p.s):
			found = append(found, t)
		case !l.compressed:
			p.alike = t
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

// sameText compares p with the emitted text of t. same reports that p has all of
// this text; short, that p is shorter than this text and may be its beginning.
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

// sameStill reports whether p, which has the inode, the head and the tail of
// own, still has the text of own. This is so if p has not changed or has
// only grown. Otherwise the text must be read and hashed, and known is false
// until then. A file that was created after the last known change of own is
// another file with the same inode.
func (c *catalog) sameStill(own *track, p *candidate, l *look) (same, known bool) {
	if own.at().off > 0 && (own.sight.file.changed != 0 && l.stamp > own.sight.file.changed || l.stamp == 0 && !own.related(&p.s)) {
		return false, true
	}
	if own.at().off == 0 || !own.sight.file.rewritten(&p.s, p.s.path != own.path) {
		return true, true
	}
	got, ok := p.checked[own]
	if !ok || got.upto != own.at().off {
		if p.asked == nil {
			c.ask(p, []wanted{want(own)})
		}
		return false, false
	}
	return got.answer == agrees && got.off == got.upto, true
}

// compared queues a job that compares p with those tracks in similar for which
// the data in l does not suffice. It reports whether all comparisons are done.
func (c *catalog) compared(p *candidate, l *look, similar []*track, orig *track, young bool, now time.Time) bool {
	if p.asked != nil || l.compressed && young && now.Sub(p.since) < min(c.cfg.RotateWait/2, 2*c.cfg.PollInterval) {
		return false // the file is still growing, so all of it would be read again
	}
	var asked []wanted
	for _, t := range similar {
		at := t.at()
		if !l.compressed && !(t.free() && t.mustHash() && p.s.size >= at.off && l.tailAt(at.off) == at.tail) {
			continue // the data in l is sufficient
		}
		moved := t.free() || t == orig && t.settled()
		if got, ok := p.checked[t]; !ok || moved && got.upto != at.off && (got.answer == agrees || !l.compressed) {
			asked = append(asked, want(t))
		}
		for _, q := range t.positions {
			if _, ok := p.checked[t]; !ok && l.compressed && t.sight.replaced && q.off > 0 {
				asked = append(asked, wanted{t, t.read.hashFrom, q})
			}
		}
	}
	if len(asked) == 0 {
		return true
	}
	c.ask(p, asked)
	return false
}

// ask queues the comparison of p with positions. The caller holds mu.
func (c *catalog) ask(p *candidate, asked []wanted) {
	p.asked = asked
	c.crew.enqueue(&c.crew.checking, p)
}

// do implements job. It compares the text of a file with the text of tracks, at
// the requested positions.
func (p *candidate) do(ctx context.Context, w *watcher) {
	w.mu.Lock()
	was, asked := p.s, slices.Clone(p.asked)
	w.mu.Unlock()
	slices.SortStableFunc(asked, func(a, b wanted) int { return cmp.Compare(a.p.off, b.p.off) })
	answers, after := make([]answer, len(asked)), restUnknown
	f, err := w.store.open(was.path, was.id)
	if err == nil {
		after, err = w.texts.compareText(ctx, f, was.path, asked, answers)
		_ = f.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.asked = nil
	w.crew.nudge()
	if err != nil || !p.s.same(&was) && (p.compressed || p.s.rewritten(&was, false)) {
		// p has changed since, or cannot be read. The next poll repeats the
		// comparison.
		if err != nil && !errors.Is(err, errStopped) && !errors.Is(err, errMoved) && !errors.Is(err, fs.ErrNotExist) {
			w.unreadableFile(p, err)
		}
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

// note records the answer for a position. If the texts agree at one position and differ
// at a later one, the agreement remains: p is a copy of a beginning.
func (p *candidate) note(a *wanted, got answer) {
	c, ok := p.checked[a.t]
	if !ok || got == agrees || c.off < a.p.off && c.answer != agrees {
		c.off, c.answer, c.rest = a.p.off, got, restUnknown
	}
	c.upto = max(c.upto, a.p.off)
	p.checked[a.t] = c
}
