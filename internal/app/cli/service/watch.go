package service

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/config"
)

// A watched loader remembers the configuration that it loaded last.
type watched struct {
	load func() (*config.File, error)
	last atomic.Pointer[config.File]
}

// Load loads the configuration. If that fails, watch continues to watch the
// files of the last configuration that was loaded.
func (w *watched) Load() (*config.File, error) {
	f, err := w.load()
	if err == nil {
		w.last.Store(f)
	}
	return f, err
}

// watch calls changed when a file that the configuration was loaded from has changed. It
// polls once a second, which works on every file system.
func (w *watched) watch(ctx context.Context, changed func()) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		if w.last.Load().Changed() {
			changed()
		}
	}
}
