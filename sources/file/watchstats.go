package file

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

// counts are what a watcher counts beside its tracks.
type counts struct {
	verdicts    map[string]int64
	truncations int64
	lost        int64
	reinflated  int64
	verified    int64
	lookalikes  int64
	emitted     int64 // records of damaged files that are not verified, and went out
	withheld    int64 // and those that did not
}

// count counts a file that is finished. The caller holds mu.
func (c *counts) count(r *Report) {
	c.verdicts[r.Verdict.Kind.String()]++
	switch n := r.Unverified.Lines; {
	case !r.Verdict.Damage():
	case r.Withheld:
		c.withheld += n
	default:
		c.emitted += n
	}
}

// watchStats say what a watcher does, and has done since it was opened.
type watchStats struct {
	Open       int // files that are being read, or wait for more
	Done       int // read to their end, and durable
	Damaged    int // the same, up to their damage
	Held       int // not begun: perhaps copies of others, or empty
	Unreadable int

	LagBytes    int64            // that are in files and not read, of compressed files as they are stored
	DamagedBy   map[string]int   // Damaged by kind of verdict
	Verdicts    map[string]int64 // finished files by kind of verdict
	Truncations int64            // files that were truncated or written over (copytruncate)
	LostBytes   int64            // seen in files that were gone, or truncated, before they were read, and found in no copy
	Reinflated  int64            // bytes decompressed again to go on after a restart
	Descriptors int              // open files
	Verifying   int64            // bytes still to be read again to verify that files hold a text that is known
	Verified    int64            // bytes that were read again for that
	Lookalikes  int64            // files that looked like a known text, and were another one

	UnverifiedEmitted  int64 // records of damaged files that no checksum verifies, and that went out
	UnverifiedWithheld int64 // the same, in no output

	Files []standing // of those that count as Open the ones with the most to read, that first; at most 20
}

// A standing says how far a file is.
type standing struct {
	Path      string
	Offset    int64 // in the text: what was emitted
	Committed int64 // of that, what is durable and stored
	Lag       int64 // see WatchStats.LagBytes
}

// Stats returns what w does. It may be called at any time, from any goroutine.
func (w *watcher) Stats() watchStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.measure()
}

// scrapeWait is how long a scrape waits for a scan of very many files.
const scrapeWait = 10 * time.Millisecond

// tryLock locks mu, unless that takes longer than scrapeWait.
func (w *watcher) tryLock() bool {
	for end := time.Now().Add(scrapeWait); !w.mu.TryLock(); {
		if time.Now().After(end) {
			return false
		}
		<-time.After(scrapeWait / 10)
	}
	return true
}

// glance returns what Stats returns, or has returned a moment ago if a scan is under
// way that takes long.
func (w *watcher) glance() watchStats {
	if w.tryLock() {
		defer w.mu.Unlock()
		s := w.measure()
		w.measured.Store(&s)
		return s
	}
	if s := w.measured.Load(); s != nil {
		return *s
	}
	return w.Stats()
}

// measure is Stats for who holds mu.
func (w *watcher) measure() watchStats {
	s := watchStats{
		DamagedBy: map[string]int{},
		Held:      len(w.candidates), Unreadable: len(w.broken) + len(w.hidden), Verdicts: maps.Clone(w.stats.verdicts), Descriptors: w.files.descs,
		Truncations: w.stats.truncations, LostBytes: w.stats.lost, Reinflated: w.stats.reinflated,
		Verifying: w.texts.verifying, Verified: w.stats.verified, Lookalikes: w.stats.lookalikes,
		UnverifiedEmitted: w.stats.emitted, UnverifiedWithheld: w.stats.withheld,
	}
	for _, t := range w.known.tracks {
		switch {
		case t.life == over && t.state == checkpoint.Damaged:
			s.Damaged++
			s.DamagedBy[damageKind(t.text)]++
		case t.life == over:
			s.Done++
		default:
			s.Open++
			if lag := t.lag(); lag > 0 {
				s.LagBytes += lag
				s.Files = addStanding(s.Files, standing{Path: t.path, Offset: t.at().off, Committed: t.entry.Offset, Lag: lag})
			}
		}
	}
	return s
}

// addStanding adds f to a list in order, which keeps at most laggards of them.
func addStanding(list []standing, f standing) []standing {
	i, _ := slices.BinarySearchFunc(list, f, func(a, b standing) int {
		return cmp.Or(cmp.Compare(b.Lag, a.Lag), strings.Compare(a.Path, b.Path))
	})
	if i == laggards {
		return list
	}
	return slices.Insert(list, i, f)[:min(len(list)+1, laggards)]
}

// lag returns how much of the file is not read.
func (t *track) lag() int64 {
	switch {
	case !t.bound || t.life != open || t.atEnd && t.file.same(&t.asRead):
		return 0
	case t.squeezed.Load():
		return max(0, t.file.size-t.taken.Load())
	}
	return max(0, t.file.size-t.at().off)
}

// unreadable returns an error that names a file that cannot be read, or nil. The
// caller holds mu.
func (w *watcher) unreadable() error {
	all := maps.Clone(w.broken)
	for path, err := range w.hidden {
		all[path] = err.Error()
	}
	if len(all) == 0 {
		return nil
	}
	path := slices.Min(slices.Collect(maps.Keys(all)))
	return fmt.Errorf("%d files cannot be read, such as %s: %w", len(all), path, errors.New(all[path]))
}
