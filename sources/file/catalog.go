package file

import "slices"

// A catalog holds the tracks, and finds the tracks whose text an unbound
// file may hold: see identify.go.
type catalog struct {
	cfg  *WatchConfig
	crew *crew

	// Guarded by watcher.mu.
	tracks   []*track
	heads    map[headKey][]*track
	headLens map[int64]int     // number of keys in heads with this length
	ids      map[string]bool   // ids of all tracks
	veiled   bool              // some track is veiled
	unread   map[string]*track // bound tracks of which nothing was emitted, by path
}

// ghosts returns the tracks without a file, by the last id of their file.
func (c *catalog) ghosts() map[fileID]*track {
	m := map[fileID]*track{}
	for _, t := range c.tracks {
		if t.sight.bound {
			continue
		}
		if o := m[t.sight.file.id]; o == nil || t.sight.gen > o.sight.gen {
			m[t.sight.file.id] = t
		}
	}
	return m
}

// index adds t under its current key and removes it from before, its
// previous key. The caller holds mu.
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

// rekey sets the key of t to the emitted beginning of its text. The caller
// holds mu, and must call touch for t.
func (c *catalog) rekey(t *track) {
	n := min(t.read.cut.off, int64(len(t.read.head)), int64(c.cfg.FingerprintBytes))
	before := t.key
	t.key = headKey{n, digestOf(t.read.head[:n])}
	c.index(t, before)
}
