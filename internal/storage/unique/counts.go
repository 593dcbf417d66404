package unique

import (
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Counts emits the metrics of a deduplication that do not depend on where its
// keys are.
type Counts struct {
	of func() *engine.DedupeSnapshot
}

// Count sets the function that returns the counts. It is called before Metrics.
func (c *Counts) Count(f func() *engine.DedupeSnapshot) { c.of = f }

// Metrics emits the metrics.
func (c *Counts) Metrics(emit metric.Emit) {
	_, gauge := metric.Of(emit)
	if c.of == nil {
		return
	}
	s := c.of()
	if s == nil {
		return
	}
	emitCounts(emit, s)
	gauge("dedupe_waiting_keys", waitingHelp, int64(s.Waiting))
	gauge("dedupe_waiting_keys_limit", "Maximum number of new keys that wait for a commit; then sources wait.", int64(s.Room))
}
