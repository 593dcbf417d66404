package file

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

// counts are the counters of a watcher that do not belong to a track.
type counts struct {
	verdicts    map[string]int64
	truncations int64
	lost        int64
	reinflated  int64
	verified    int64
	lookalikes  int64
	emitted     int64 // unverified records of damaged files that were emitted
	withheld    int64 // unverified records that were not emitted
}

// count counts a finished file. The caller holds mu.
func (c *counts) count(r *Report) {
	c.verdicts[r.Code()]++
	switch n := r.Unverified.Lines; {
	case !r.Verdict.Damage():
	case r.Withheld:
		c.withheld += n
	default:
		c.emitted += n
	}
}

// lose counts and logs the n bytes of a file that was removed or truncated
// before they were read. The caller holds mu.
func (c *counts) lose(log *slog.Logger, t *track, n int64) {
	if n > 0 {
		c.lost += n
		log.Error("file removed or truncated before it was read to the end", "path", t.path, "read", t.at().off, "lost_bytes", n)
	}
}

// watchStats describe what a watcher is doing and has done since it was opened.
type watchStats struct {
	Open       int // files that are being read or followed
	Done       int // files read to their ends, and durable
	Damaged    int // files read up to their damage, and durable
	Held       int // files not started: empty, or possibly copies of others
	Unreadable int

	LagBytes    int64            // unread bytes in files; of compressed files, as they are stored
	DamagedBy   map[string]int   // Damaged by kind of verdict
	Verdicts    map[string]int64 // finished files by kind of verdict
	Truncations int64            // files that were truncated or overwritten (copytruncate)
	LostBytes   int64            // bytes seen in files that disappeared or were truncated before they were read, and found in no copy
	Reinflated  int64            // bytes decompressed again to resume after a restart
	Descriptors int              // open files
	Verifying   int64            // bytes still to be read again to verify that files hold a known text
	Verified    int64            // bytes read again to verify
	Lookalikes  int64            // files that resembled a known text but differ from it

	UnverifiedEmitted  int64 // unverified records of damaged files that were emitted
	UnverifiedWithheld int64 // unverified records of damaged files that are in no output

}

// Stats returns the current figures. It may be called at any time, from any
// goroutine.
func (w *watcher) Stats() watchStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.measure()
}

// scrapeWait is how long a scrape waits for a scan of very many files to
// release mu.
const scrapeWait = 10 * time.Millisecond

// tryLock locks mu, and gives up after scrapeWait.
func (w *watcher) tryLock() bool {
	for end := time.Now().Add(scrapeWait); !w.mu.TryLock(); {
		if time.Now().After(end) {
			return false
		}
		<-time.After(scrapeWait / 10)
	}
	return true
}

// glance returns what Stats returns, or its last result if a long scan holds
// mu.
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

// measure implements Stats. The caller holds mu.
func (w *watcher) measure() watchStats {
	s := watchStats{
		DamagedBy: map[string]int{},
		Held:      len(w.candidates), Unreadable: len(w.broken) + len(w.hidden), Verdicts: maps.Clone(w.stats.verdicts), Descriptors: w.files.descs,
		Truncations: w.stats.truncations, LostBytes: w.stats.lost, Reinflated: w.stats.reinflated,
		Verifying: w.texts.verifying, Verified: w.stats.verified, Lookalikes: w.stats.lookalikes,
		UnverifiedEmitted: w.stats.emitted, UnverifiedWithheld: w.stats.withheld,
	}
	s.Done = len(w.finished.objects)
	if b, ok := w.store.(*bucket); ok {
		s.Held += int(b.waiting.Load())
		s.LagBytes = b.waitingBytes.Load()
	}
	for _, t := range w.known.tracks {
		switch {
		case t.life == over && t.end.state == checkpoint.Damaged:
			s.Damaged++
			s.DamagedBy[damageKind(t.end.text)]++
		case t.life == over:
			s.Done++
		default:
			s.Open++
			s.LagBytes += t.lag()
		}
	}
	return s
}

// lag returns how many bytes of the file are unread.
func (t *track) lag() int64 {
	if !t.sight.bound || t.life != open || t.atEnd && t.sight.file.same(&t.asRead) {
		return 0
	}
	return t.unread()
}

// unread returns how many bytes the file had after the position when it was
// last seen. In a compressed file, these are compressed bytes.
func (t *track) unread() int64 {
	if t.squeezed.Load() {
		return max(0, t.sight.file.size-t.taken.Load())
	}
	return max(0, t.sight.file.size-t.at().off)
}

// unreadable returns an error that names one of the files that cannot be read,
// or nil. The caller holds mu.
func (w *watcher) unreadable() error {
	all := maps.Clone(w.broken)
	for path, err := range w.hidden {
		all[path] = err.Error()
	}
	if len(all) == 0 {
		return nil
	}
	path := slices.Min(slices.Collect(maps.Keys(all)))
	return fmt.Errorf("cannot read %d files, including %s: %w", len(all), path, errors.New(all[path]))
}
