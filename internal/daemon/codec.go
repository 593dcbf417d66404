package daemon

import (
	"github.com/urlfold/urlfold/internal/observe/tap"
	"github.com/urlfold/urlfold/pipeline"
)

// codec returns the function that makes the codecs of p, and of those that look
// at its records.
func (d *Daemon) codec(p *plan) func() pipeline.Codec {
	next := pipeline.NewRecordCodec(p.job)
	if d.tap != nil {
		next = d.tap.Wrap(next, p.tapJob, p.file.Codec.Secrets, d.masker.Mask)
	}
	return next
}

// addTap sets the job that reads samples, if they are enabled and the
// configuration of the records is valid.
func (p *plan) addTap() error {
	if p.job == nil || !p.file.Admin.Tap {
		return nil
	}
	rc, err := p.catalog.recordConfig(p.file, p.registry, allSound)
	if err == nil {
		p.tapJob, err = tap.Job(rc)
	}
	if err != nil {
		return p.file.ErrorAt("admin.tap", err)
	}
	return nil
}
