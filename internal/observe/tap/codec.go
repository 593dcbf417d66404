package tap

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// fields are what the job of a tap must write, in tsv.
var fields = []string{"url", "norm", "key", "change", "flags", "host", "error"}

// Job returns the job that reads samples, for records that are read as c says.
// It masks at least passwords.
func Job(c record.Config) (*record.Job, error) {
	c.Render, c.Fields, c.Extend = record.RenderTSV, fields, nil
	c.Redact, c.Route, c.Facts, c.Identity = redact.OrPasswords(c.Redact), nil, false, record.Identity{}
	c.StopNoSchema, c.OnRejected, c.OnUnparsed, c.OnOversize = false, record.DispositionDefault, record.DispositionDefault, record.DispositionDefault
	return record.New(c)
}

// A worker may spend one part in share of its time on samples, which is 0.8
// %. It may spend at most maxCredit in advance.
const (
	share     = 125
	maxCredit = 5 * time.Millisecond
	runLength = 8 // records that are read between two looks at the clock
)

// A sampler wraps the codec of one worker.
type sampler struct {
	engine.Codec
	tap     *Tap
	jobs    []*record.Job // by source
	mask    *masker
	workers []*record.Worker // workers of the jobs
	now     func() time.Time
	random  *rand.Rand

	at     time.Time     // end of the last batch; zero: there was none
	credit time.Duration // time that may be spent on samples

	out, dead []byte
}

// Wrap returns a function that makes codecs which do what the codecs of next
// do, and send samples. jobs has a job from [Job] for each source. The values
// of the parameters called secrets are masked, as those with well-known names
// are, and mask masks all other secrets in a text.
func (t *Tap) Wrap(next func() engine.Codec, jobs []*record.Job, secrets []string, mask func(string) string) func() engine.Codec {
	m := &masker{names: map[string]bool{}, text: mask}
	for _, name := range slices.Concat(secretNames, secrets) {
		m.names[strings.ToLower(name)] = true
	}
	return func() engine.Codec {
		s := &sampler{Codec: next(), tap: t, jobs: jobs, mask: m, now: time.Now, random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
		for _, job := range jobs {
			s.workers = append(s.workers, job.NewWorker())
		}
		return s
	}
}

// Process implements [engine.Codec].
func (s *sampler) Process(b *engine.Batch) {
	list := s.tap.listeners()
	s.Codec.Process(b)
	if len(list) == 0 {
		s.at = time.Time{}
		return
	}
	if s.Err() != nil || b.Piece != engine.Whole || len(b.In) == 0 {
		return
	}
	now := s.now()
	if s.at.IsZero() { // the first batch for these listeners
		s.at = now
		s.credit = min(maxCredit, s.credit+maxCredit/4)
	}
	s.credit = min(maxCredit, s.credit+now.Sub(s.at)/share)
	s.at = now
	if s.credit > 0 {
		s.sample(b, list)
	}
}

// Err implements [engine.Stopper].
func (s *sampler) Err() error {
	if x, ok := s.Codec.(engine.Stopper); ok {
		return x.Err()
	}
	return nil
}

// sample reads runs of records of b until the credit is used up, but at most as
// many as b has.
func (s *sampler) sample(b *engine.Batch, list []*Listener) {
	wanted := list[:0:0]
	for _, l := range list {
		if l.filter.mayMatch(&b.Stats) {
			wanted = append(wanted, l)
		}
	}
	if len(wanted) == 0 {
		return
	}
	for left := b.Stats.Records; left > 0 && s.credit > 0; left -= runLength {
		s.run(b, wanted)
		now := s.now()
		s.credit -= now.Sub(s.at)
		s.at = now
	}
}

// run reads some consecutive records of b, from a random one on.
func (s *sampler) run(b *engine.Batch, list []*Listener) {
	from := b.Lane.Source()
	job, worker := s.jobs[from], s.workers[from]
	defer func() {
		if recover() != nil { // the codec has handled and counted the record
			s.workers[from] = job.NewWorker()
		}
	}()
	c := newCursor(b, job, s.random)
	for range runLength {
		rec, at, ok := c.next(worker)
		if !ok {
			return
		}
		var st record.Stats
		s.out, s.dead = worker.Append(s.out[:0], s.dead[:0], rec, at, &st)
		s.report(s.out, at, &st, list)
	}
}
