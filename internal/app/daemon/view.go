package daemon

import (
	"strings"

	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/internal/observe/metrics"
	"github.com/urlfold/urlfold/internal/observe/web"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/file"
)

// view returns the state for the admin server.
func (d *Daemon) view() web.View {
	v := web.View{Snapshot: d.totals.Snapshot(), Began: d.totals.Began()}
	if s := d.shadow.Load(); s != nil {
		v.Shadow = s.Status()
	}
	d.addDamage(&v)
	d.mu.Lock()
	defer d.mu.Unlock()
	v.ReloadErr, v.DedupeErr = d.reloadErr, d.dedupeErr
	if d.now == nil {
		return v
	}
	f := d.now.plan.file
	v.Sources, v.Sinks = d.now.parts.sources, d.now.parts.all()
	if c := d.now.parts.claims; c != nil && v.DedupeErr == nil {
		v.DedupeErr = c.Health()
	}
	v.CommitInterval, v.MaxUnresolved = f.CommitInterval, f.Admin.ReadyWithin
	return v
}

// addDamage adds the damaged files of the running sources. It calls the sources
// without holding d.mu, because they may be calling d.report.
func (d *Daemon) addDamage(v *web.View) {
	d.mu.Lock()
	now := d.now
	var names []string
	if now != nil {
		names = now.plan.sourceNames
	}
	d.mu.Unlock()
	if now == nil {
		return
	}
	for i, s := range now.parts.sources {
		w, ok := engine.As[interface {
			Damaged(limit int) ([]file.Damage, map[string]int)
		}](s)
		if !ok {
			continue
		}
		list, counts := w.Damaged(web.MaxDamaged - len(v.Damaged))
		for _, n := range counts {
			v.DamagedFiles += n
		}
		for _, f := range list {
			_, detail, _ := strings.Cut(f.Text, ": ")
			shown := web.DamagedFile{Path: f.Path, Source: names[i], Verdict: f.Verdict, Detail: detail}
			if f.Offset >= 0 {
				shown.Offset = &f.Offset
			}
			v.Damaged = append(v.Damaged, shown)
		}
	}
}

// Metrics implements [metrics.Extra] for the daemon itself.
func (d *Daemon) Metrics(emit metric.Emit) {
	count, _ := metric.Of(emit)
	d.server.Metrics(emit)
	d.mu.Lock()
	reload, good, bad := d.reloaded, d.reloadsGood, d.reloadsBad
	failed := d.reloadErr != ""
	d.mu.Unlock()
	if s := d.shadow.Load(); s != nil {
		s.Metrics(emit)
	}
	emit("config_last_reload_successful", "1 if the last reload of the configuration succeeded or there was none, else 0.", metric.Gauge, number(!failed))
	emit("config_last_reload_success_timestamp_seconds", "Time when the configuration was last loaded successfully, in seconds since the Unix epoch.", metric.Gauge, float64(reload.UnixMilli())/1000)
	const reloads = "Number of reloads of the configuration, by result."
	count("config_reloads_total", reloads, int64(good), "result", "success")
	count("config_reloads_total", reloads, int64(bad), "result", "failure")
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// all returns the sinks, the dead letter last.
func (p *parts) all() []engine.Sink {
	list := p.sinks[:len(p.sinks):len(p.sinks)]
	if p.dead != nil {
		list = append(list, p.dead)
	}
	return list
}

// extras returns the components that have their own metrics.
func (p *parts) extras(plan *plan) []metrics.Extra {
	var list []metrics.Extra
	add := func(part any, name string) {
		if x, ok := engine.As[metrics.Extra](part); ok {
			list = append(list, named{x, name})
		}
	}
	for i, s := range p.sources {
		add(s, plan.sourceNames[i])
	}
	for i, s := range p.sinks {
		add(s, plan.sinkNames[i])
	}
	add(p.dead, engine.DeadLetterName)
	if p.keys != nil {
		list = append(list, p.keys)
	}
	if p.claims != nil {
		list = append(list, p.claims)
	}
	return list
}

// named adds the label "component" to the metrics of a component.
type named struct {
	metrics.Extra
	name string
}

// Metrics implements [metrics.Extra].
func (n named) Metrics(emit metric.Emit) {
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
