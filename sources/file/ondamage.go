package file

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file implements the on-damage policies of a Source.

// examineFirst reads a whole input before any of it is emitted, and limits how
// much of it may be emitted. skip reports that nothing may be emitted.
func (s *Source) examineFirst(ctx context.Context, in *input, r *laneReader) (skip bool, err error) {
	if r.st.pump != nil {
		return false, nil // New refuses stdin, and the callers refuse pipes
	}
	f, err := s.openAgain(ctx, in)
	switch {
	case disk.Exhausted(err), errors.Is(err, errStopped):
		return false, err
	case err != nil:
		return false, nil // already open, and deleted since
	}
	defer func() { _ = f.Close() }() // opened for reading only
	zr := compress.NewReader(f, s.readerOptions(in))
	defer zr.Close()
	r.seen, err = examine(ctx, zr)
	if err != nil || r.seen == nil {
		return false, err
	}
	if s.cfg.OnDamage == damageSkip && r.seen.verdict.Damage() {
		r.lane.Skip()
		return true, nil
	}
	r.st.left = r.seen.limit()
	r.sums = func() int64 { return r.seen.verified } // the second reading ends before the checksum of the last verified unit
	return false, nil
}

// openAgain opens the file of an input a second time.
func (s *Source) openAgain(ctx context.Context, in *input) (f io.ReadSeekCloser, err error) {
	if in.object != nil {
		return s.openObject(in)
	}
	err = patiently(ctx, patience, func() (err error) {
		f, err = s.openSteady(in.path)
		return err
	})
	return f, err
}

// conclude determines the unverified part of a damaged input that was read to
// the end, and withdraws that part if it was emitted but must not be.
func (s *Source) conclude(ctx context.Context, in *input, r *laneReader) error {
	rep := &in.report
	if rep.Verdict.Kind == compress.OpenQuote {
		return s.stopAt(rep) // nothing is unverified
	}
	keeps := s.cfg.NeedsFiles() && rep.Format != compress.Plain
	rep.Withheld = keeps
	if r.st.pump == nil && rep.Format != compress.Plain {
		rest := s.rest(in, r)
		border := int64(0)
		if r.lane.Skipped() {
			border = r.seen.verified
		}
		sv, err := take(ctx, rest, border, s.judge(in, &r.cutter))
		if errors.Is(err, errStopped) {
			return err
		}
		if r.lane.Skipped() {
			rep.Verified = sv.before
		}
		rep.fill(sv, r.lines())
		if keeps && r.lane.Held() {
			r.lane.Withdraw(&engine.Unverified{Open: rest.Open})
		}
	}
	return s.stopAt(rep)
}

// rest returns the text of an input after its verified part.
func (s *Source) rest(in *input, r *laneReader) *text {
	return &text{
		open: func() (io.ReadSeeker, func() error, error) {
			f, err := s.openAgain(context.Background(), in)
			if err != nil {
				return nil, nil, err
			}
			return f, f.Close, nil
		},
		from: r.from, off: r.verified.Bytes, opt: s.readerOptions(in),
	}
}

// judge returns a judge for the records after the verified part of an input.
func (s *Source) judge(in *input, c *cutter) *judge {
	j := &judge{framing: c.framing, head: c.verifiedHead()}
	if s.cfg.FitOf != nil {
		j.newFit = func(head []byte) func([]byte) bool { return s.cfg.FitOf(in.path, head) }
	}
	return j
}

// stopAt returns the error that ends the run if the policy is stop and the
// input is damaged, else nil.
func (s *Source) stopAt(rep *Report) error {
	if s.cfg.OnDamage != damageStop || !rep.Verdict.Damage() {
		return nil
	}
	return fmt.Errorf("%s: stopped at the damage (on_damage: stop)", rep.Path)
}
