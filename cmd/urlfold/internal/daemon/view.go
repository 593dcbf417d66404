package daemon

import (
	"github.com/urlfold/urlfold/internal/metrics"
	"github.com/urlfold/urlfold/internal/web"
	"github.com/urlfold/urlfold/pipeline"
)

// view returns what the admin server shows.
func (d *Daemon) view() web.View {
	v := web.View{Snapshot: d.totals.Snapshot(), Began: d.totals.Began()}
	d.mu.Lock()
	defer d.mu.Unlock()
	v.ReloadErr = d.reloadErr
	if d.now == nil {
		return v
	}
	f := d.now.plan.file
	v.Sources, v.Sinks = d.now.parts.sources, d.now.parts.all()
	v.CommitInterval, v.MaxUnresolved = f.Pipeline.CommitInterval, f.Ready.MaxUnresolved
	return v
}

// Metrics implements [metrics.Extra] for the daemon itself.
func (d *Daemon) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	d.server.Metrics(emit)
	d.mu.Lock()
	failed := d.reloadErr != ""
	d.mu.Unlock()
	emit("config_reload_failed", "1 if the last change of the configuration was not taken.", "gauge", number(failed))
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// all returns the sinks, the dead letter last.
func (p *parts) all() []pipeline.Sink {
	list := p.sinks[:len(p.sinks):len(p.sinks)]
	if p.dead != nil {
		list = append(list, p.dead)
	}
	return list
}

// extras returns the components with figures of their own.
func (p *parts) extras(plan *plan) []metrics.Extra {
	var list []metrics.Extra
	add := func(part any, name string) {
		if x, ok := part.(metrics.Extra); ok {
			list = append(list, named{x, name})
		}
	}
	for i, s := range p.sources {
		add(s, plan.sourceNames[i])
	}
	for i, s := range p.sinks {
		add(s, plan.sinkNames[i])
	}
	add(p.dead, pipeline.DeadLetterName)
	return list
}

// named is a component whose figures bear its name, as all others of it do.
type named struct {
	metrics.Extra
	name string
}

// Metrics implements [metrics.Extra].
func (n named) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	n.Extra.Metrics(func(name, help, kind string, value float64, labels ...string) {
		for i := 0; i < len(labels); i += 2 {
			if labels[i] == "component" {
				emit(name, help, kind, value, labels...)
				return
			}
		}
		emit(name, help, kind, value, append([]string{"component", n.name}, labels...)...)
	})
}

// Interface guard.
var _ metrics.Extra = (*Daemon)(nil)
