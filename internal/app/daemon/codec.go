package daemon

import (
	"cmp"
	"errors"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/observe/tap"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// codec returns the function that makes the codecs of p, including the codecs of the
// tap and the shadow, which read the same records. The counts of a shadow start at
// zero.
func (d *Daemon) codec(p *plan) func() engine.Codec {
	next := engine.NewSourceCodecs(p.jobs)
	d.shadow.Store(nil)
	if s := p.shadow; s != nil {
		shadow := keydiff.NewShadow(s.a, s.b, s.oneIn, s.memory, time.Now())
		d.shadow.Store(shadow)
		next = shadow.Wrap(next, s.jobsA, s.jobsB)
	}
	if d.tap != nil {
		next = d.tap.Wrap(next, p.tapJobs, p.file.Codec.Secrets, d.masker.Mask)
	}
	return next
}

// addTap sets the jobs that read samples, if they are enabled and the
// configuration of the records is valid.
func (p *plan) addTap() error {
	if p.jobs == nil || !p.file.Admin.Tap {
		return nil
	}
	for _, c := range each(p.file.Sources) {
		rc, err := p.catalog.recordConfig(p.file, c, p.registry, allSound)
		if err == nil {
			var job *record.Job
			job, err = tap.Job(rc)
			p.tapJobs = append(p.tapJobs, job)
		}
		if err != nil {
			return p.file.ErrorAt("admin.tap", err)
		}
	}
	return nil
}

// A shadowPlan is a comparison with a second profile.
type shadowPlan struct {
	a, b         keydiff.Side
	jobsA, jobsB []*record.Job // by source
	oneIn        int
	memory       int64 // bytes
}

// Defaults of a shadow.
const (
	shadowOneIn  = 64
	shadowMemory = 32 << 20
)

// addShadow sets the comparison with a second profile, if there is one and the
// configuration of the records is valid.
func (p *plan) addShadow() error {
	c := p.file.Shadow
	if p.jobs == nil || c == nil {
		return nil
	}
	s := &shadowPlan{oneIn: cmp.Or(c.OneIn, shadowOneIn), memory: cmp.Or(int64(c.Memory), shadowMemory)}
	var err error
	if s.b, err = p.shadowSide(); err != nil {
		return p.file.ErrorAt("shadow.profile", err)
	}
	for _, c := range each(p.file.Sources) {
		if err := s.add(p, c); err != nil {
			return p.file.ErrorAt("shadow", err)
		}
	}
	p.shadow = s
	return nil
}

// add makes the jobs of a source.
func (s *shadowPlan) add(p *plan, c *config.Component) error {
	rc, err := p.catalog.recordConfig(p.file, c, p.registry, allSound)
	if err != nil {
		return err
	}
	s.a = keydiff.Side{Normalizer: rc.Normalizer, Level: rc.Level}
	a, errA := keydiff.ShadowJob(rc, s.a)
	b, errB := keydiff.ShadowJob(rc, s.b)
	s.jobsA, s.jobsB = append(s.jobsA, a), append(s.jobsB, b)
	return errors.Join(errA, errB)
}

// shadowSide returns the second profile, with the hash and the encoding of
// queries of the codec.
func (p *plan) shadowSide() (keydiff.Side, error) {
	c := &p.file.Codec
	var key []byte
	if text := c.HMACKey.Reveal(); text != "" {
		key = []byte(text)
	}
	profile, policy := p.file.Shadow.Resolve()
	norm, err := recordconf.NewNormalizer(&config.Codec{Hash: c.Hash, QueryEncoding: c.QueryEncoding}, profile, policy, key)
	if err != nil {
		return keydiff.Side{}, err
	}
	side := keydiff.Side{Normalizer: norm, Level: norm.Profile().Key}
	if lv, err := codec.ParseLevel(p.file.Shadow.Key); err == nil {
		side.Level = lv
	}
	return side, nil
}
