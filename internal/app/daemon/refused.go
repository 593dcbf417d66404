package daemon

import (
	"errors"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// refusedPolicies maps the values of on_error.refused to policies.
var refusedPolicies = map[string]engine.RefusedPolicy{
	"dead-letter": engine.RefusedDeadLetter, "block": engine.RefusedBlock, "drop": engine.RefusedDrop,
}

// brokerSinks holds the types of sinks that can refuse single records
// permanently.
var brokerSinks = map[string]bool{"kafka": true, "jetstream": true, "nats": true}

// Warnings returns warnings about valid settings whose effect users may not expect. It
// connects to no server.
func Warnings(f *config.File) (list []*config.Error) {
	list = f.Warnings()
	for _, c := range (&plan{file: f}).components() {
		var e *field.Error
		if x, ok := c.Config.(interface{ Doubts() error }); ok && errors.As(x.Doubts(), &e) {
			list = append(list, f.ErrorAt(c.Path()+"."+e.Field, e.Err))
		}
	}
	var text string
	switch {
	case f.OnError.Refused == "drop":
		text = "records that the broker refuses permanently will be lost (on_error.refused: drop); configure dead_letter and set on_error.refused: dead-letter to keep them"
	case f.DeadLetter == nil:
		text = "a record that the broker refuses permanently will block its lane (on_error.refused: block, the default without dead_letter); configure dead_letter to avoid this"
	default:
		return list
	}
	for _, c := range each(f.Sinks) {
		if brokerSinks[c.Type] {
			list = append(list, f.ErrorAt(c.Path(), errors.New(text)))
		}
	}
	return list
}

// Dropped returns the number of records that were dropped because a sink
// refused them.
func (d *Daemon) Dropped() (n int64) {
	for _, s := range d.totals.Snapshot().Sinks {
		n += s.Dropped
	}
	return n
}
