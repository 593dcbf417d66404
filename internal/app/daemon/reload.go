package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/observe/systemd"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// connectTimeout is how long a reload waits for new brokers; then it rejects
// the new configuration.
const connectTimeout = 10 * time.Second

// Reload requests a reload of the configuration and returns immediately.
// Requests that arrive during a reload are combined into one.
func (d *Daemon) Reload() {
	select {
	case d.reloads <- struct{}{}:
	default:
	}
}

func (d *Daemon) watchReloads(ctx context.Context) {
	select {
	case <-d.begun: // requests wait until the run has begun
	case <-ctx.Done():
		return
	}
	for {
		select {
		case <-d.reloads:
			d.reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// reload applies the current configuration file. An invalid file changes
// nothing.
func (d *Daemon) reload(ctx context.Context) {
	_ = systemd.Reloading() // best effort
	how, err := d.change(ctx)
	if err != nil {
		d.failReload(err)
		d.events.Error("configuration rejected, keeping the previous one", "error", err)
	} else {
		d.failReload(nil)
		d.events.Info("configuration reloaded", "effect", how)
	}
	_ = systemd.Ready("running") // best effort
}

// failReload stores the error of the last reload for the status page; nil
// clears it.
func (d *Daemon) failReload(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reloadErr = ""
	if err != nil {
		d.reloadErr = d.masker.Mask(err.Error())
		d.reloadsBad++
		return
	}
	d.reloadsGood++
	d.reloaded = time.Now()
}

// change loads and applies the configuration. It returns how the change
// was applied.
func (d *Daemon) change(ctx context.Context) (how string, err error) {
	f, err := d.o.Load()
	if err != nil {
		return "", err
	}
	d.masker.Add(secretsOf(f)...) // add the secrets before any error can mention them
	next, err := d.catalog.newPlan(f)
	if err == nil {
		err = next.tooFew
	}
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	now := d.now
	d.mu.Unlock()
	if err := fixed(now.plan, next); err != nil {
		return "", err
	}
	if err := next.checkStoredKeys(d.store); err != nil {
		return "", err
	}
	if sameFlow(now.plan, next) {
		d.swap(now, next)
		return "rules", nil
	}
	if uses(now.plan.file.Sources, "stdin") {
		return "", errors.New("changing sources or sinks requires a restart: a new pipeline cannot take over data that the current one has read from stdin")
	}
	if _, err := next.connect(ctx); err != nil {
		return "", err
	}
	d.setLevel(f)
	d.setNext(next)
	now.stop()
	return "new pipeline after draining the current one", nil
}

// swap applies the rules of next to the running pipeline.
func (d *Daemon) swap(now *running, next *plan) {
	d.setLevel(next.file)
	d.mu.Lock()
	defer d.mu.Unlock()
	now.plan = next
	next.beginSchemas(d.log)
	now.pipe.SetCodec(d.codec(next))
	d.swaps++
}

// fixed returns an error if next changes settings that require a restart.
func fixed(now, next *plan) error {
	var keys []string
	a, b := now.file, next.file
	for _, c := range []struct {
		key  string
		same bool
	}{
		{"data_dir", a.DataDir == b.DataDir || !now.files() && !next.files()},
		{"sources (adding the first file source)", now.files() || !next.files()},
		{"admin", reflect.DeepEqual(a.Admin, b.Admin)},
		{"log.format", a.Log.Format == b.Log.Format},
		{"log.repeat_interval", a.Log.RepeatInterval == b.Log.RepeatInterval},
	} {
		if !c.same {
			keys = append(keys, c.key)
		}
	}
	if len(keys) > 0 {
		return errors.New("changing these settings requires a restart: " + strings.Join(keys, ", "))
	}
	return nil
}

// sameFlow reports whether two plans differ at most in how they process
// records, so that the pipeline of one can continue with the rules of the
// other. The framing must be the same, because sources have already cut the
// batches in flight.
func sameFlow(a, b *plan) bool {
	f, g := a.file, b.file
	return bytes.Equal(a.header(), b.header()) && // another header requires new files
		sameComponents(f.Sources, g.Sources) && sameFormats(f.Sources, g.Sources) && sameComponents(f.Sinks, g.Sinks) &&
		sameComponent(f.DeadLetter, g.DeadLetter) &&
		(f.Route == nil) == (g.Route == nil) && // the memory of a batch depends on the routing
		maps.Equal(a.identity, b.identity) && sameBucket(f.Dedupe, g.Dedupe) && sameChangelog(f, g) && sameWindow(f.Dedupe, g.Dedupe) && sameMarks(f, g) && // otherwise the sets of keys differ
		f.OnError == g.OnError && f.Workers == g.Workers && f.Order == g.Order && f.Batch == g.Batch && f.MaxInFlight == g.MaxInFlight &&
		f.CommitInterval == g.CommitInterval && f.MemoryLimit == g.MemoryLimit && f.ShutdownTimeout == g.ShutdownTimeout && f.Codec.MaxRecord == g.Codec.MaxRecord &&
		reflect.DeepEqual(f.Codec.Registry, g.Codec.Registry)
}

// sameFormats reports whether the sources of two configurations, which have the
// same types, also have the same formats. It ignores settings that do not
// change where records end.
func sameFormats(a, b []config.Component) bool {
	cuts := func(f config.Format) config.Format {
		f.Base, f.Timezone, f.Year = fieldOf(f.Base), "", 0
		return f
	}
	for i := range a {
		if !reflect.DeepEqual(cuts(a[i].Format), cuts(b[i].Format)) {
			return false
		}
	}
	return true
}

// sameChangelog reports whether f and g keep the dedupe keys in the same topic.
// A configuration without dedupe agrees with any other.
func sameChangelog(f, g *config.File) bool {
	return f.Dedupe == nil || g.Dedupe == nil || reflect.DeepEqual(f.Dedupe.Changelog, g.Dedupe.Changelog)
}

// sameWindow reports whether windows, if there are any, are kept equally long.
func sameWindow(a, b *config.Dedupe) bool {
	return a == nil || b == nil || a.Window == nil || b.Window == nil || *a.Window == *b.Window
}

// sameMarks reports whether f and g write the marks of duplicates in the same
// way, or f writes none.
func sameMarks(f, g *config.File) bool {
	return f.Dedupe == nil || !f.Dedupe.Marks() || f.Codec.Render.Form == g.Codec.Render.Form
}

// fieldOf returns the name of the record field in a base, or "". It matters for
// the framing: in a table, naming a column implies a header.
func fieldOf(base string) string {
	_, rest, _ := strings.Cut(base, "{")
	name, _, _ := strings.Cut(rest, "}")
	return name
}

func sameComponents(a, b []config.Component) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameComponent(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

func sameComponent(a, b *config.Component) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Type == b.Type && a.Name == b.Name && reflect.DeepEqual(a.Config, b.Config)
}

// Check connects to and disconnects from all sources and sinks of f, and checks that
// output files can be created, without creating any. The warnings describe settings
// that work but should be changed.
func (cat *Catalog) Check(ctx context.Context, f *config.File) (warnings []*config.Error, err error) {
	p, err := cat.newPlan(f)
	if err != nil {
		return nil, err
	}
	warnings, err = p.connect(ctx)
	if p.files() {
		if bad := disk.Creatable(f.DataDir); bad != nil {
			err = inOrder(err, f.ErrorAt("data_dir", bad))
		}
	}
	return warnings, err
}

// connect creates the components and calls their connection checks
// concurrently, so that a server that does not answer does not delay the other
// checks.
func (p *plan) connect(ctx context.Context) (warnings []*config.Error, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	e := &env{log: discardLog}
	var wait sync.WaitGroup
	var all []*checked
	check := func(c *config.Component, part any, err error) {
		r := &checked{part: part}
		all = append(all, r)
		wait.Go(func() { r.warnings, r.errs = p.checkPart(ctx, c, part, err) })
	}
	for _, c := range each(p.file.Sources) {
		s, err := p.makeSource(c, e)
		check(c, s, err)
	}
	for _, c := range p.outputs() {
		s, err := p.makeSink(c, e)
		check(c, s, err)
	}
	var bucket, topic error
	wait.Go(func() { bucket = p.checkBucket(ctx) })
	wait.Go(func() { topic = p.checkChangelog(ctx) })
	wait.Wait()
	errs := []error{bucket, topic}
	longest, room := 0, 0
	for i, r := range all {
		warnings, errs = append(warnings, r.warnings...), append(errs, r.errs...)
		if room = limitOf(r.part); i < len(p.file.Sources) {
			longest = max(longest, cmp.Or(room, int(p.file.Codec.MaxRecord)))
		} // the last room is the limit of the dead letter
	}
	if d := p.file.DeadLetter; d != nil && room > 0 && room/2 < longest {
		warnings = append(warnings, p.file.ErrorAt(d.Path(), fmt.Errorf("limited to messages of %d bytes, but the sources have records of up to %d bytes: dead letters, which are longer than their records, will be truncated; raise the limit to %d", room, longest, 2*longest)))
	}
	if err := p.tight(); err != nil {
		warnings = append(warnings, p.file.ErrorAt("memory_limit", err))
	}
	if p.tooFew != nil {
		warnings = append(warnings, p.file.ErrorAt("sources", p.tooFew))
	}
	return warnings, inOrder(errs...)
}

// checked is what the check of a component found.
type checked struct {
	part     any
	warnings []*config.Error
	errs     []error
}

// checkPart calls the connection check of the component part, which c describes, unless
// creating it failed with err.
func (p *plan) checkPart(ctx context.Context, c *config.Component, part any, err error) (warnings []*config.Error, errs []error) {
	if x, ok := engine.As[connector](part); ok && err == nil {
		err = x.CheckConnect(ctx)
	}
	if x, ok := engine.As[interface{ Warnings() []string }](part); ok && err == nil {
		for _, text := range x.Warnings() {
			warnings = append(warnings, p.file.ErrorAt(c.Path(), errors.New(text)))
		}
	}
	for _, err := range errlist.Flatten(err) {
		path := c.Path()
		if f := new(field.Error); errors.As(err, &f) {
			path, err = path+"."+f.Field, f.Err
		}
		errs = append(errs, p.file.ErrorAt(path, err))
	}
	return warnings, errs
}

// limitOf returns the size of the longest message, in bytes, that a component
// receives or accepts, or 0 if the size is unknown or not limited. Call it
// after the connection check of the component.
func limitOf(component any) int {
	if l, ok := engine.As[interface{ MessageLimit() int }](component); ok {
		return l.MessageLimit()
	}
	return 0
}

// A connector is a component that can check its connection without being
// opened.
type connector interface {
	CheckConnect(ctx context.Context) error
}
