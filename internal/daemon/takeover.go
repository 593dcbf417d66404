package daemon

import (
	"fmt"
	"log/slog"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/pipeline"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// takeOver gives the stored checkpoints to the components of p that go on with it. Where
// names have changed, which they do by themselves when a component without one gets
// another place, files go to the source that includes them, and outputs to the sink
// that writes to such a path. An output that no sink goes on with is finished.
func (p *plan) takeOver(store *checkpoint.Store, log *slog.Logger) error {
	if store == nil {
		return nil
	}
	if p.exactlyOnce && !store.Cuts() {
		if err := p.finishWithoutExtent(log); err != nil {
			return err
		}
	}
	if err := store.SetCuts(p.exactlyOnce); err != nil {
		return err
	}
	return store.Assign(p.sourceOf, func(m pipeline.Extent) string {
		name, ok := p.sinkOf(m)
		if ok {
			return name
		}
		if err := sinkfile.FinishExtent(m); err != nil {
			log.Warn("no sink of the configuration writes to the path of an unfinished output: it stays as it is", "path", m.Path, "error", err)
			return m.Sink
		}
		log.Info("no sink of the configuration writes to the path of an output: it is finished", "path", m.Path, "sink", m.Sink)
		return ""
	})
}

// finishWithoutExtent finishes what was written without exactly_once: of that the progress
// does not say how far it is covered.
func (p *plan) finishWithoutExtent(log *slog.Logger) error {
	for _, c := range p.outputs() {
		l, ok := c.Config.(*sinkfile.LogConfig)
		if !ok || special(l.Path) {
			continue
		}
		finished, err := l.FinishWithoutExtent(nil)
		for _, path := range finished {
			log.Info("an output was written without exactly_once: it is finished", "path", path)
		}
		if err != nil {
			return fmt.Errorf("%s: outputs that were written without exactly_once: %w", p.extentName(c), err)
		}
	}
	return nil
}

// sourceOf returns the name of the source that goes on with a file.
func (p *plan) sourceOf(e *checkpoint.Entry) string {
	other := ""
	for i := range p.file.Sources {
		c := &p.file.Sources[i]
		s, ok := c.Config.(*file.Settings)
		switch {
		case !ok || !s.Covers(e.Path):
		case c.Name == e.Source:
			return c.Name
		case other == "":
			other = c.Name
		}
	}
	if other == "" {
		return e.Source
	}
	return other
}

// sinkOf returns the name of the sink that goes on with an output, if there is one that
// writes to such a path: the one that has begun it, or else another one.
func (p *plan) sinkOf(m pipeline.Extent) (name string, ok bool) {
	other := ""
	for _, c := range p.outputs() {
		l, isFile := c.Config.(*sinkfile.LogConfig)
		if !isFile || !l.Makes(m.Path) {
			continue
		}
		switch name := p.extentName(c); {
		case name == m.Sink:
			return name, true
		case other == "":
			other = name
		}
	}
	return other, other != ""
}
