package daemon

import (
	"fmt"
	"log/slog"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/pipeline/engine"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	sinkkafka "github.com/urlfold/urlfold/sinks/kafka"
)

// takeOver assigns the stored checkpoints to the components of p. Component
// names may have changed; a default name changes when the component moves in
// the file. In that case, files go to the source that includes them, and
// outputs to the sink that writes to their path. takeOver finishes outputs that
// no sink continues.
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
	return store.Assign(p.sourceOf, func(m engine.Extent) string {
		name, ok := p.sinkOf(m)
		if ok {
			return name
		}
		if sinkkafka.IsExtent(m.Path) {
			return "" // another topic, or a topic that no sink writes to any more
		}
		if err := sinkfile.FinishExtent(m); err != nil {
			log.Warn("orphaned output left unfinished", "path", m.Path, "error", err)
			return m.Sink
		}
		log.Info("orphaned output finished", "path", m.Path, "component", m.Sink)
		return ""
	})
}

// finishWithoutExtent finishes outputs that were written without exactly_once.
// The checkpoint lacks extents for them, so they cannot be continued exactly.
func (p *plan) finishWithoutExtent(log *slog.Logger) error {
	for _, c := range p.outputs() {
		l, ok := p.logOf(c)
		if !ok || special(l.Path) {
			continue
		}
		finished, err := l.FinishWithoutExtent()
		for _, path := range finished {
			log.Info("unfinished output renamed, exactly_once enabled", "path", path)
		}
		if err != nil {
			return fmt.Errorf("%s: finish outputs written without exactly_once: %w", p.extentName(c), err)
		}
	}
	return nil
}

// sourceOf returns the name of the source that continues a file: the source of
// its checkpoint if this source still includes the file, or else another source
// that includes it.
func (p *plan) sourceOf(e *checkpoint.Entry) string {
	other := ""
	for _, c := range each(p.file.Sources) {
		s, ok := c.Config.(coverer)
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

// A maker is the configuration of a sink with extents in the checkpoint.
type maker interface {
	Makes(path string) bool
}

// makerOf returns the configuration of c if it is a maker.
func (p *plan) makerOf(c *config.Component) maker {
	if l, ok := p.logOf(c); ok {
		return l
	}
	m, _ := c.Config.(maker)
	return m
}

// sinkOf returns the name of the sink that continues an output: the sink that
// started the output if this sink still writes to the path, or else another
// sink that writes to it.
func (p *plan) sinkOf(m engine.Extent) (name string, ok bool) {
	other := ""
	for _, c := range p.outputs() {
		if l := p.makerOf(c); l == nil || !l.Makes(m.Path) {
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
