package file

import (
	"sync"

	"github.com/fsnotify/fsnotify"
)

// hints receives file system notifications. They make a watcher react faster,
// but it does not depend on them.
type hints struct {
	news    chan struct{}
	fs      *fsnotify.Watcher // nil: not available
	pumping sync.WaitGroup
	watched map[string]bool
}

// maxWatched limits the number of watched folders, because systems limit it
// too.
const maxWatched = 1024

func newHints(dirs []string) *hints {
	h := &hints{news: make(chan struct{}, 1), watched: map[string]bool{}}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return h
	}
	h.fs = fs
	h.pumping.Go(h.pump)
	for _, dir := range dirs {
		h.add(dir)
	}
	return h
}

// add starts to watch a folder. If that fails, the next scan tries again.
func (h *hints) add(dir string) {
	if h.fs == nil || h.watched[dir] || len(h.watched) >= maxWatched {
		return
	}
	if h.fs.Add(dir) == nil {
		h.watched[dir] = true
	}
}

// pump signals news for each event.
func (h *hints) pump() {
	for {
		select {
		case _, ok := <-h.fs.Events:
			if !ok {
				return
			}
			select {
			case h.news <- struct{}{}:
			default:
			}
		case _, ok := <-h.fs.Errors:
			if !ok {
				return
			}
		}
	}
}

func (h *hints) close() {
	if h.fs != nil {
		_ = h.fs.Close()
		h.pumping.Wait()
	}
}
