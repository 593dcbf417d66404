package daemon

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/errlist"
	"github.com/urlfold/urlfold/internal/observe/systemd"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline"
)

// connectTimeout is how long a reload waits for new brokers before it refuses the
// configuration that names them.
const connectTimeout = 10 * time.Second

// Reload asks for the configuration to be read again. It does not wait. Requests
// that come while one is being carried out become one.
func (d *Daemon) Reload() {
	select {
	case d.reloads <- struct{}{}:
	default:
	}
}

func (d *Daemon) watchReloads(ctx context.Context) {
	select {
	case <-d.begun: // what is asked for before is done then
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

// reload puts the configuration in force as it is now. One with a mistake changes
// nothing.
func (d *Daemon) reload(ctx context.Context) {
	_ = systemd.Reloading() // nobody to tell otherwise
	how, err := d.change(ctx)
	if err != nil {
		d.failReload(err)
		d.events.Error("configuration rejected, keeping the last one", "error", err)
	} else {
		d.failReload(nil)
		d.events.Info("the configuration was read again", "effect", how)
	}
	_ = systemd.Ready("running") // as above
}

// failReload keeps why the last change was not taken.
func (d *Daemon) failReload(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reloadErr = ""
	if err != nil {
		d.reloadErr = d.masker.Mask(err.Error())
	}
}

// change reads the configuration and puts it in force. It returns what that took.
func (d *Daemon) change(ctx context.Context) (how string, err error) {
	f, err := d.o.Load()
	if err != nil {
		return "", err
	}
	d.masker.Add(secretsOf(f)...) // before anything can fail with one in its text
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
	if sameFlow(now.plan, next) {
		d.swap(now, next)
		return "rules", nil
	}
	if now.plan.readsStdin() {
		return "", errors.New("a restart of the process is needed for a change of sources or sinks: a new pipeline cannot take over what the last one has read from stdin")
	}
	if _, err := next.connect(ctx); err != nil {
		return "", err
	}
	d.setLevel(f)
	d.setNext(next)
	now.stop()
	return "a new pipeline, when the last one is drained", nil
}

// swap puts the rules of next in force in the pipeline that runs.
func (d *Daemon) swap(now *running, next *plan) {
	d.setLevel(next.file)
	d.mu.Lock()
	defer d.mu.Unlock()
	now.plan = next
	now.pipe.SetCodec(pipeline.NewRecordCodec(next.job))
	d.swaps++
}

// fixed refuses a change of what belongs to the process.
func fixed(now, next *plan) error {
	var keys []string
	a, b := now.file, next.file
	for _, c := range []struct {
		key  string
		same bool
	}{
		{"data_dir", a.DataDir == b.DataDir || !now.files && !next.files},
		{"sources (the first one of files)", now.files || !next.files},
		{"admin", reflect.DeepEqual(a.Admin, b.Admin)},
		{"log.format", a.Log.Format == b.Log.Format},
		{"log.rate_limit", a.Log.RateLimit == b.Log.RateLimit},
	} {
		if !c.same {
			keys = append(keys, c.key)
		}
	}
	if len(keys) > 0 {
		return errors.New("a restart of the process is needed for a change of " + strings.Join(keys, ", "))
	}
	return nil
}

// sameFlow reports whether two plans differ at most in how records are handled, so
// that the pipeline of one can go on with the rules of the other. Records must end
// at the same places, for sources have cut what is under way.
func sameFlow(a, b *plan) bool {
	f, g := a.file, b.file
	return sameComponents(f.Sources, g.Sources) && sameComponents(f.Sinks, g.Sinks) &&
		sameComponent(f.DeadLetter, g.DeadLetter) &&
		f.Pipeline == g.Pipeline && f.Shutdown == g.Shutdown && f.Memory == g.Memory &&
		f.Codec.Format == g.Codec.Format && f.Codec.URLField == g.Codec.URLField && f.Codec.BaseField == g.Codec.BaseField &&
		fieldOf(f.Codec.Base) == fieldOf(g.Codec.Base)
}

// fieldOf returns the field of the record that a base takes its host from, or nothing. A table that names a column has a header.
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

// Check connects to all that the configuration names, and lets go of it again, and
// looks whether files can be made where they are to be, without making any. The
// warnings are of what works, and not as well as it could.
func (cat *Catalog) Check(ctx context.Context, f *config.File) (warnings []*config.Error, err error) {
	p, err := cat.newPlan(f)
	if err != nil {
		return nil, err
	}
	warnings, err = p.connect(ctx)
	if p.files {
		if bad := disk.Creatable(f.DataDir); bad != nil {
			err = inOrder(err, f.ErrorAt("data_dir", bad))
		}
	}
	return warnings, err
}

// connect looks whether the components could work, as far as they can tell.
func (p *plan) connect(ctx context.Context) (warnings []*config.Error, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	e := &env{log: discardLog}
	var errs []error
	check := func(c *config.Component, part any, err error) {
		if x, ok := part.(connector); ok && err == nil {
			err = x.CheckConnect(ctx)
		}
		if x, ok := part.(interface{ Warnings() []string }); ok && err == nil {
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
	}
	for i := range p.file.Sources {
		c := &p.file.Sources[i]
		s, err := p.makeSource(c, e)
		check(c, s, err)
	}
	for _, c := range p.outputs() {
		s, err := p.makeSink(c, e)
		check(c, s, err)
	}
	if err := p.tight(); err != nil {
		warnings = append(warnings, p.file.ErrorAt("memory.limit", err))
	}
	if p.tooFew != nil {
		warnings = append(warnings, p.file.ErrorAt("sources", p.tooFew))
	}
	return warnings, inOrder(errs...)
}

// A connector is a component that can look whether it would be able to work.
type connector interface {
	CheckConnect(ctx context.Context) error
}
