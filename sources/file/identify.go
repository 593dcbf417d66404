package file

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/compress"
)

// This file answers what a file is that no track is bound to: one that was read
// before and is known by its inode; one that was known under another inode, moved
// or compressed since; a copy of one that is still there, which rotation makes just
// before it takes the other away; or a new one.
//
// What is a copy and what is a file of its own that happens to begin in the same
// way can only be told by what comes next. So a young file that could be a copy is
// held back, and nothing is lost but time, at most rotate_wait.

// A prospect is a file that is not known yet.
type prospect struct {
	s sighting
	meeting
	listed   bool
	checking bool
	checked  map[*track]checked // with what a compressed text was compared
	asked    []wanted
	told     bool // that it cannot be read was reported
	copied   bool // it is the compressed form of a file that is there, too: it is not read
}

// A meeting says for how long a file is known as it is.
type meeting struct {
	since time.Time // when it was seen last to have changed
	scans int       // how many scans have seen it so
}

// A checked is what became of a comparison.
type checked struct {
	off    int64 // of the place
	answer answer
	whole  bool // the text ends there
}

// An answer says whether a text is that of a track up to a place.
type answer uint8

const (
	differs  answer = iota
	tooShort        // it ends before
	agrees
)

// A wanted is a place that a text is looked at for.
type wanted struct {
	t *track
	p place
}

// close releases what p holds.
func (p *prospect) close(*Watcher) { p.asked = nil }

// A look is the beginning of a file.
type look struct {
	f          *os.File
	head       []byte // of the text
	compressed bool
	stamp      int64 // see born
}

// lookAt opens a file and reads its beginning. The caller closes f, or keeps it.
func (w *Watcher) lookAt(s *sighting) (*look, error) {
	f, err := openAs(s.path, s.id)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, w.cfg.FingerprintBytes)
	n, err := f.ReadAt(raw, 0)
	if err != nil && err != io.EOF {
		_ = f.Close()
		return nil, err
	}
	l := &look{f: f, head: raw[:n], stamp: born(f)}
	if l.compressed = needsReader(raw[:min(n, rawHead)], s.path); l.compressed {
		zr := compress.NewReader(onlyRead{f}, compress.Options{Limits: w.cfg.limits(), Name: s.path})
		defer zr.Close()
		n, _ = io.ReadFull(zr, raw)
		l.head = raw[:n]
	}
	return l, nil
}

// consider decides what p is, if that can be told now. It reports whether p is
// settled. The caller holds mu.
func (w *Watcher) consider(p *prospect, own *track, l *look, now time.Time) bool {
	if own != nil && !own.replaced && !own.reused && w.fits(own, p, l) {
		w.bind(own, p, l, now)
		return true
	}
	gen := int64(0)
	if own != nil {
		own.reused = true
		gen = own.gen + 1
	}
	best, hold := w.compare(p, l, now)
	switch {
	case hold:
		return false
	case best != nil:
		w.log.Info("a file has the text of another one that is gone: it is read on", "path", p.s.path, "was", best.path)
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
func (w *Watcher) fits(t *track, p *prospect, l *look) bool {
	if t.step != resting || t.life == ended || w.outlived(t, p, l) {
		return false
	}
	at := t.at()
	if at.off == 0 {
		return !t.another(l)
	}
	if int64(len(l.head)) < t.key.n || digestOf(l.head[:t.key.n]) != t.key.sum {
		return false
	}
	return l.compressed || p.s.size >= at.off && tailAt(l.f, at.off) == at.tail
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
func tailAt(f io.ReaderAt, off int64) digest {
	var buf [tailBytes]byte
	tail := buf[:tailLen(off)]
	if n, _ := f.ReadAt(tail, off-int64(len(tail))); n < len(tail) {
		return digest{}
	}
	return digestOf(tail)
}

// compare looks for tracks that p may be a copy of. It returns the one that p
// takes the place of, or whether it is too early to tell.
func (w *Watcher) compare(p *prospect, l *look, now time.Time) (best *track, hold bool) {
	young := w.young(p, now)
	p.copied = false
	if w.veiled && slices.ContainsFunc(w.tracks, func(t *track) bool { return t.veiled() && sameBeginning(t.head, l.head) }) {
		return nil, true // it may be a copy of what is just about to be known
	}
	var orig *track
	if l.compressed {
		orig = w.original(p)
		first := !w.ends && p.scans == 1 // what it was made of may have been listed before it was renamed
		if young && (first || orig != nil || len(l.head) < int(w.cfg.FingerprintBytes)) {
			return nil, true // there is too little of it yet
		}
	}
	cands := w.candidates(p, l, young, orig)
	if len(cands) == 0 {
		return nil, false
	}
	if l.compressed {
		if ready := w.decoded(p, cands, young, now); !ready {
			return nil, true
		}
	}
	for _, t := range cands {
		same, short := w.sameText(p, l, t)
		switch {
		case same && t == orig:
			p.copied, hold = true, true
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
func (w *Watcher) young(p *prospect, now time.Time) bool {
	if p.scans < fewScans && !w.ends {
		return true
	}
	age := now.Sub(time.Unix(0, p.s.changed))
	return age < w.cfg.RotateWait && now.Sub(p.since) < w.cfg.RotateWait
}

// original returns the track of the file that p is the compressed form of, by its
// name, if that is still there: who compresses takes it away when he is done.
func (w *Watcher) original(p *prospect) *track {
	path := stem(p.s.path)
	if path == "" {
		return nil
	}
	for _, t := range w.tracks {
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
func (w *Watcher) outlived(t *track, p *prospect, l *look) bool {
	made := l.stamp
	if made == 0 {
		made = p.s.changed
	}
	switch {
	case t.disposed != 0:
		return made > t.disposed
	case t.bound || t.gone.IsZero():
		return false
	}
	return made > t.gone.Add(w.cfg.RotateWait).UnixNano()
}

// mayBe reports whether p may be made of the file of t, by its name: if on_finish took
// that away, it is only what a rotation was just compressing. Any other file was there
// beside it, and is one of its own.
func (t *track) mayBe(p *prospect) bool { return t.disposed == 0 || stem(p.s.path) == t.path }

// candidates returns the tracks that begin as l does, orig among them if that is
// one.
func (w *Watcher) candidates(p *prospect, l *look, young bool, orig *track) []*track {
	var found []*track
	head := l.head
	add := func(t *track) {
		if t.at().off > 0 && (t.free() || young || !t.sure() || t == orig) && !w.outlived(t, p, l) && t.mayBe(p) && !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	for n := range w.headLens {
		if n <= int64(len(head)) && n > 0 {
			for _, t := range w.heads[headKey{n, digestOf(head[:n])}] {
				add(t)
			}
		}
	}
	if len(head) > 0 && len(head) < int(w.cfg.FingerprintBytes) {
		for _, t := range w.tracks {
			if int64(len(head)) < t.key.n && bytes.HasPrefix(t.head, head) {
				add(t)
			}
		}
	}
	return found
}

// sameText reports whether p has all of the text of t that was emitted, or, being
// shorter than that, a beginning of it, as far as that can be told.
func (w *Watcher) sameText(p *prospect, l *look, t *track) (same, short bool) {
	at := t.at()
	if l.compressed {
		c, ok := p.checked[t]
		same = ok && c.answer == agrees && c.off == at.off
		return same, ok && !same && c.answer != differs
	}
	if p.s.size >= at.off {
		return tailAt(l.f, at.off) == at.tail, false
	}
	for i := len(t.places) - 1; i >= 0; i-- {
		if q := t.places[i]; q.off <= p.s.size && q.off > 0 {
			return false, tailAt(l.f, q.off) == q.tail
		}
	}
	return false, true
}

// decoded sees to it that a compressed file is compared with cands, which takes
// reading it: a job. It reports whether that was done.
func (w *Watcher) decoded(p *prospect, cands []*track, young bool, now time.Time) bool {
	if p.checking || young && now.Sub(p.since) < min(w.cfg.RotateWait/2, 2*w.cfg.PollInterval) {
		return false // it is still growing: all of it would be read again
	}
	var asked []wanted
	for _, t := range cands {
		if c, ok := p.checked[t]; !ok || t.free() && c.off != t.at().off && c.answer == agrees {
			asked = append(asked, wanted{t, t.at()})
		}
		for _, q := range t.places {
			if _, ok := p.checked[t]; !ok && t.replaced && q.off > 0 {
				asked = append(asked, wanted{t, q})
			}
		}
	}
	if len(asked) == 0 {
		return true
	}
	p.asked, p.checking = asked, true
	w.enqueue(p)
	return false
}

// do implements job: it compares the text of a compressed file with that of
// tracks, at the places that are asked for.
func (p *prospect) do(ctx context.Context, w *Watcher) {
	w.mu.Lock()
	was, asked := p.s, slices.Clone(p.asked)
	w.mu.Unlock()
	slices.SortStableFunc(asked, func(a, b wanted) int { return int(min(max(a.p.off-b.p.off, -1), 1)) })
	answers, whole := make([]answer, len(asked)), false
	f, err := openAs(was.path, was.id)
	if err == nil {
		zr := compress.NewReader(onlyRead{f}, compress.Options{Limits: w.cfg.limits(), Name: was.path})
		whole = matchAll(ctx, zr, asked, answers)
		zr.Close()
		_ = f.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.checking = false
	w.nudge()
	if err != nil || !p.s.same(&was) || p.s.path != was.path || ctx.Err() != nil {
		return // it has changed, and is looked at again
	}
	if p.checked == nil {
		p.checked = map[*track]checked{}
	}
	for i, a := range asked {
		if c, ok := p.checked[a.t]; !ok || answers[i] == agrees || c.off < a.p.off && c.answer != agrees {
			p.checked[a.t] = checked{a.p.off, answers[i], whole && a.p.off == asked[len(asked)-1].p.off}
		}
	}
}

// matchAll reads a text and says of the places, which are in order, whether the
// text before them is theirs. It reports whether the text ends well behind the
// last of them.
func matchAll(ctx context.Context, r *compress.Reader, asked []wanted, answers []answer) (whole bool) {
	var (
		off  int64
		last []byte
		err  error
	)
	for i, a := range asked {
		for off < a.p.off && err == nil && ctx.Err() == nil {
			var part []byte
			n := min(a.p.off-off, 4<<20)
			part, _, err = skip(r, n, nil)
			last = appendTail(last, part)
			off += n
		}
		switch {
		case err != nil:
			answers[i] = tooShort
		case digestOf(last) == a.p.tail:
			answers[i] = agrees
		}
	}
	var one [1]byte
	n, _ := r.Read(one[:])
	return err == nil && n == 0 && !r.Verdict().Damage()
}
