package daemon

import (
	"errors"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/pipeline"
)

// refusedPolicies are the values of pipeline.on_refused.
var refusedPolicies = map[string]pipeline.RefusedPolicy{
	"dead_letter": pipeline.RefusedDeadLetter, "block": pipeline.RefusedBlock, "drop": pipeline.RefusedDrop,
}

// brokerSinks are the types of sinks that can refuse single records for good.
var brokerSinks = map[string]bool{"kafka": true, "jetstream": true, "nats": true}

// Warnings returns what works in a configuration that Load has checked, and may
// surprise: without connecting to anything.
func Warnings(f *config.File) (list []*config.Error) {
	var text string
	switch {
	case f.Pipeline.OnRefused == "drop":
		text = "a record that the broker refuses for good is lost (pipeline.on_refused: drop); a dead_letter would keep it"
	case f.DeadLetter == nil:
		text = "a record that the broker refuses for good blocks its lane, because no dead_letter is configured (pipeline.on_refused: block)"
	default:
		return nil
	}
	for i := range f.Sinks {
		if c := &f.Sinks[i]; brokerSinks[c.Type] {
			list = append(list, f.ErrorAt(c.Path(), errors.New(text)))
		}
	}
	return list
}

// Dropped returns how many records sinks have refused, and were dropped.
func (d *Daemon) Dropped() (n int64) {
	for _, s := range d.totals.Snapshot().Sinks {
		n += s.Dropped
	}
	return n
}
