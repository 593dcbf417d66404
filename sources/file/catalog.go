package file

import (
	"slices"
	"sync"
)

// A catalog holds the tracks, and tells which of them the text of a file may be that
// none is bound to: identify.go.
type catalog struct {
	cfg  *WatchConfig
	crew *crew
	ends bool // a file is done when its end is met

	mu       *sync.Mutex // of the watcher; guards what follows
	tracks   []*track
	heads    map[headKey][]*track
	headLens map[int64]int   // how many keys in heads have this length
	ids      map[string]bool // of all tracks
	veiled   bool            // there are tracks that are
}

// ghosts returns the tracks without a file by the id that their file had.
func (c *catalog) ghosts() map[fileID]*track {
	m := map[fileID]*track{}
	for _, t := range c.tracks {
		if t.bound {
			continue
		}
		if o := m[t.file.id]; o == nil || t.gen > o.gen {
			m[t.file.id] = t
		}
	}
	return m
}

// index makes t be found by its key, which was before. The caller holds mu.
func (c *catalog) index(t *track, before headKey) {
	if before == t.key && before.n > 0 {
		return
	}
	c.unindex(t, before)
	if t.key.n > 0 {
		c.heads[t.key] = append(c.heads[t.key], t)
		c.headLens[t.key.n]++
	}
}

func (c *catalog) unindex(t *track, key headKey) {
	list := c.heads[key]
	i := slices.Index(list, t)
	if i < 0 {
		return
	}
	if c.heads[key] = slices.Delete(list, i, i+1); len(list) == 1 {
		delete(c.heads, key)
	}
	if c.headLens[key.n]--; c.headLens[key.n] == 0 {
		delete(c.headLens, key.n)
	}
}
