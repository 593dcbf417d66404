package file

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/checkpoint"
)

// counts are what a Watcher counts beside its tracks.
type counts struct {
	verdicts    map[string]int64
	truncations int64
	lost        int64
	reinflated  int64
}

// count counts a track that is finished. The caller holds mu.
func (c *counts) count(t *track) { c.verdicts[t.verdict.Kind.String()]++ }

// WatchStats say what a Watcher does, and has done since it was opened.
type WatchStats struct {
	Open       int // files that are being read, or wait for more
	Done       int // read to their end, and durable
	Damaged    int // the same, up to their damage
	Held       int // not begun: perhaps copies of others, or empty
	Unreadable int

	LagBytes    int64            // that are in files and not read, of compressed files as they are stored
	Verdicts    map[string]int64 // finished files by kind of verdict
	Truncations int64            // files that were truncated or written over (copytruncate)
	LostBytes   int64            // seen in files that were gone, or truncated, before they were read, and found in no copy
	Reinflated  int64            // bytes decompressed again to go on after a restart
	Descriptors int              // open files

	Files []Standing // those that count as Open, by path
}

// A Standing says how far a file is.
type Standing struct {
	Path      string
	Offset    int64 // in the text: what was emitted
	Committed int64 // of that, what is durable and stored
	Lag       int64 // see WatchStats.LagBytes
}

// Stats returns what w does. It may be called at any time, from any goroutine.
func (w *Watcher) Stats() WatchStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := WatchStats{
		Held: len(w.prospects), Unreadable: len(w.broken) + len(w.hidden), Verdicts: maps.Clone(w.stats.verdicts), Descriptors: w.descs,
		Truncations: w.stats.truncations, LostBytes: w.stats.lost, Reinflated: w.stats.reinflated,
	}
	for _, t := range w.tracks {
		switch {
		case t.life == over && t.state == checkpoint.Damaged:
			s.Damaged++
		case t.life == over:
			s.Done++
		default:
			f := Standing{Path: t.path, Offset: t.at().off, Committed: t.entry.Offset, Lag: t.lag()}
			s.Open++
			s.LagBytes += f.Lag
			s.Files = append(s.Files, f)
		}
	}
	slices.SortFunc(s.Files, func(a, b Standing) int { return strings.Compare(a.Path, b.Path) })
	return s
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
func (w *Watcher) unreadable() error {
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
