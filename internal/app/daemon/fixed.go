package daemon

import (
	"fmt"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/sources/file"
)

// leastFixed is the minimum arena size, in bytes, for batches that end at fixed
// offsets: the distance between two such offsets, plus room for a record across
// one.
const leastFixed = file.GridBytes + 64*int(field.KiB)

// fixedBatches returns the first output that requires reproducible batches, or
// nil. Reproducible batches have the same boundaries when the input is read
// again.
func (p *plan) fixedBatches() *config.Component {
	for _, c := range p.outputs() {
		if f, ok := c.Config.(interface{ FixedBatches() bool }); ok && f.FixedBatches() {
			return c
		}
	}
	return nil
}

// checkFixedBatches checks that all sources produce reproducible batches if an
// output requires them.
func (k *checker) checkFixedBatches() {
	out := k.fixedBatches()
	if out == nil || !k.isSound(out, "msg_id") {
		return
	}
	for _, c := range each(k.file.Sources) {
		if !k.isSound(c, "mode") {
			continue
		}
		if why := loose(c); why != "" {
			k.wrong(c.Path(), fmt.Sprintf("%s, but %s.msg_id: batch requires batches that end at the same records in every run; in the sink, set msg_id: position with framing: records, or msg_id: none", why, out.Path()))
		}
	}
}

// loose returns why the batches of a source are not reproducible, or "" if they
// are.
func loose(c *config.Component) string {
	switch s, ok := c.Config.(*file.Settings); {
	case c.Type == "s3", c.Type == "objects": // objects do not grow
	case !ok:
		return fmt.Sprintf("batches of a %s source end wherever messages arrive", c.Type)
	case !s.Batch():
		return "with mode: tail, batches end at the current end of a growing file"
	}
	return ""
}

// batchBytes returns the arena size of batches, in bytes.
func (p *plan) batchBytes() int {
	n := int(p.file.Batch.Size)
	if p.fixedBatches() != nil {
		n = max(n, leastFixed)
	}
	return n
}
