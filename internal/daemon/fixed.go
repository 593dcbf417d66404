package daemon

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/sources/file"
)

// leastFixed is how long the arenas of batches are at least that end at fixed
// places: the distance of these, and room for the record that lies across one.
const leastFixed = file.GridBytes + 64*int(field.KiB)

// fixedBatches returns the first output that takes batches only that are the same
// when they are read again, or nil.
func (p *plan) fixedBatches() *config.Component {
	for _, c := range p.outputs() {
		if f, ok := c.Config.(interface{ FixedBatches() bool }); ok && f.FixedBatches() {
			return c
		}
	}
	return nil
}

// checkFixedBatches looks whether all sources can cut such batches.
func (p *plan) checkFixedBatches(sound func(path string) bool) error {
	out := p.fixedBatches()
	if out == nil || !isSound(out, sound, "msg_id") {
		return nil
	}
	var errs []error
	for i := range p.file.Sources {
		c := &p.file.Sources[i]
		if !isSound(c, sound, "mode") {
			continue
		}
		if why := loose(c); why != "" {
			errs = append(errs, p.file.ErrorAt(c.Path(), fmt.Errorf("%s, and msg_id: batch of %s needs batches that are the same when they are read again: set msg_id: position with framing: records there, or msg_id: none", why, out.Path())))
		}
	}
	return errors.Join(errs...)
}

// loose returns why the batches of a source may end elsewhere when they are read
// again, or nothing.
func loose(c *config.Component) string {
	switch s, ok := c.Config.(*file.Settings); {
	case !ok:
		return fmt.Sprintf("a source of type %s cuts its batches as messages come, not at fixed positions", c.Type)
	case !s.Batch():
		return "with mode: tail a batch ends where a file that grows has come to"
	}
	return ""
}

// batchBytes returns how long the arenas of batches are.
func (p *plan) batchBytes() int {
	n := int(p.file.Pipeline.Batch.Bytes)
	if p.fixedBatches() != nil {
		n = max(n, leastFixed)
	}
	return n
}
