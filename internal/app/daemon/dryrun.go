package daemon

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sources/file"
	"github.com/urlfold/urlfold/sources/s3"
)

// A DryReport is the result of a dry run.
type DryReport struct {
	Snapshot engine.Snapshot
	Files    []file.Report
}

// Damaged returns the number of damaged files.
func (r *DryReport) Damaged() (n int64) {
	for i := range r.Files {
		if r.Files[i].Verdict.Damage() {
			n++
		}
	}
	return n
}

// errDryBrokers is the error of a dry run with a source that reads from a
// broker.
var errDryBrokers = errors.New("--dry-run supports only file sources: reading from a broker would consume messages; use 'urlfold check --connect' instead")

// errDryStdin is the error of a dry run with a source that reads stdin.
var errDryStdin = errors.New("--dry-run supports only file sources: data read from stdin would be lost; use urlfold without a command instead")

// DryRun reads all files of the sources of f to the end, as a first run would,
// and processes their records. It writes no output and changes neither the
// files nor stored checkpoints. It logs damaged files as a run does.
func (cat *Catalog) DryRun(ctx context.Context, f *config.File, log io.Writer) (DryReport, error) {
	var report DryReport
	p, err := cat.newPlan(f)
	if err != nil {
		return report, err
	}
	for i := range f.Sources {
		s, ok := f.Sources[i].Config.(*file.Settings)
		if f.Sources[i].Type == "stdin" {
			return report, f.ErrorAt(f.Sources[i].Path(), errDryStdin)
		}
		if o, isS3 := f.Sources[i].Config.(*s3.Config); isS3 {
			o.OnFinish = file.OnFinish{}.String()
			continue
		}
		if !ok {
			return report, f.ErrorAt(f.Sources[i].Path(), errDryBrokers)
		}
		s.OnFinish = file.OnFinish{}
	}
	dir, err := os.MkdirTemp("", "urlfold-dry-run-")
	if err != nil {
		return report, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover directory does no harm
	store, err := checkpoint.Open(dir)
	if err != nil {
		return report, err
	}
	defer func() { _ = store.Close() }() // the store is temporary, too
	masker := new(logging.Masker)
	masker.Add(secretsOf(f)...)
	var mu sync.Mutex
	logger := logging.New(log, logging.Options{Masker: masker})
	e := &env{store: store, log: logger, untilEOF: true, dry: true, onReport: func(source string, r file.Report) {
		mu.Lock()
		defer mu.Unlock()
		if r.Verdict.Damage() {
			logFinished(logger, source, r)
		}
		report.Files = append(report.Files, r)
	}}
	err = p.runDry(ctx, e, dir, &report)
	return report, masked(masker, err)
}

// runDry runs p with sinks that write nothing. The dedupe keys go to dir.
func (p *plan) runDry(ctx context.Context, e *env, dir string, report *DryReport) error {
	parts, err := p.make(e)
	if err != nil {
		return err
	}
	for i := range parts.sinks {
		parts.sinks[i] = discard.New(discard.Config{})
	}
	if parts.dead != nil {
		parts.dead = discard.New(discard.Config{})
	}
	if err := p.openKeys(ctx, parts, e.store, dir, e.log); err != nil {
		return err
	}
	defer func() { _ = parts.closeKeys() }() // the files are temporary
	o := p.options(parts, e.log)
	o.ExactlyOnce = false
	pipe, err := engine.New(o)
	if err != nil {
		return err
	}
	err = p.locate(nameKeys(pipe.Run(ctx)))
	report.Snapshot = pipe.Snapshot()
	return err
}
