package file

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline"
)

// A Report says what became of one input.
type Report struct {
	Path            string // "-" for stdin
	Format          compress.Format
	Verdict         compress.Verdict
	CompressedBytes int64          // taken from the file
	Bytes           int64          // of text that could be read
	Lines           int64          // line ends in what was emitted
	Lost            int64          // bytes at the end of the text that are not emitted: an incomplete record before a cut
	Stopped         bool           // the run was stopped before the end of the input, or before its beginning
	Verified        Extent         // of the text, from its beginning: what checksums verify, to the last record end
	Unverified      Extent         // of the text behind that, what was emitted, or, if it is withheld, all that can be read
	Misfit          int64          // line of the first record of a damaged file that is not verified and does not fit the format, best effort; 0: none was found
	Unsummed        bool           // it is compressed, and not all of it has checksums
	Withheld        bool           // what is not verified is in no output
	Known           string         // the verdict of a run before on a damaged file that is as it was then: of all else only Path is set
	Lane            *pipeline.Lane // nil if the input was not come to
}

// A Progress says how far a source has come. It is for showing: the numbers are
// not of one instant.
type Progress struct {
	Files, FilesDone int
	// Bytes are those of the files as they are stored, and BytesDone those that
	// were read. Known is false if there is an input whose size is not known.
	Bytes, BytesDone int64
	Known            bool
}

// A Source reads files once. See the package comment.
type Source struct {
	cfg      Config
	rt       pipeline.Runtime
	expanded bool
	expErr   error
	inputs   []*input
	at       func(point string) error // fault.At, but in tests
}

// New returns a source. The error tells all that is wrong with cfg, joined. It
// looks at no file.
func New(cfg Config) (*Source, error) {
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Source{cfg: cfg, at: fault.At}, nil
}

// Paths returns the paths of all inputs, in order. The first of Paths, Inspect
// and Open looks which files there are; the others find the same. The error names
// all paths that stand for nothing: see [ErrNoInput].
func (s *Source) Paths() ([]string, error) {
	if err := s.expand(); err != nil {
		return nil, err
	}
	var paths []string
	for _, in := range s.inputs {
		paths = append(paths, in.path)
	}
	return paths, nil
}

// Rels returns the path of each input relative to what named it, by its path: of
// a file that was named itself its base name, of one in a folder or of a glob the
// path below the folder or below the fixed part of the glob. Stdin has none.
func (s *Source) Rels() (map[string]string, error) {
	if err := s.expand(); err != nil {
		return nil, err
	}
	rels := make(map[string]string, len(s.inputs))
	for _, in := range s.inputs {
		if in.path != stdinPath {
			rels[in.path] = in.rel
		}
	}
	return rels, nil
}

func (s *Source) expand() error {
	if s.expanded {
		return s.expErr
	}
	s.expanded = true
	var files []found
	err := patiently(context.Background(), patience, func() (err error) {
		files, err = expand(s.cfg.Paths)
		return err
	})
	s.expErr = err
	for _, f := range files {
		in := &input{found: f, size: -1}
		in.report.Path = f.path
		if fi, err := os.Stat(f.path); err == nil && fi.Mode().IsRegular() {
			in.size = fi.Size()
		}
		if file, ok := s.cfg.Stdin.(*os.File); ok && f.path == stdinPath && isRegular(file) {
			if fi, err := file.Stat(); err == nil {
				in.size = fi.Size()
			}
		}
		s.inputs = append(s.inputs, in)
	}
	return err
}

// Inspect calls visit for each input, in order, with the first n bytes of its
// decompressed text, or fewer if it has fewer, and what is known of the file by
// then: if it is damaged within these bytes, or cannot be read, the verdict says
// so. A pipe that is slow gives what has come of it, a line at least. Nothing is
// lost: the bytes are emitted later as if nobody had looked. head is visit's only
// until it returns. Inspect is for before Run. It returns the error of ctx if
// that ends first.
func (s *Source) Inspect(ctx context.Context, n int, visit func(path string, head []byte, v compress.Verdict)) error {
	if err := s.expand(); err != nil {
		return err
	}
	for _, in := range s.inputs {
		st, err := s.open(ctx, in)
		switch {
		case errors.Is(err, errStopped):
			return context.Cause(ctx)
		case err != nil:
			return err
		case st == nil:
			visit(in.path, nil, in.report.Verdict)
			continue
		}
		head, err := st.peek(ctx, n, s.cfg.Linger)
		if errors.Is(err, errStopped) {
			return context.Cause(ctx)
		}
		var v compress.Verdict
		if st.ended {
			v = st.zr.Verdict()
		}
		visit(in.path, head, v)
		if in.path != stdinPath && st.pump == nil && len(s.inputs) > 1 {
			// It is opened again in its turn. A thousand files that stay open would
			// cost a thousand file descriptors.
			st.close()
			in.stream = nil
		}
	}
	return nil
}

// Hold says, before Run, that what was emitted can be withdrawn from all outputs: see
// Config.Hold.
func (s *Source) Hold() { s.cfg.Hold = true }

// Open implements [pipeline.Source].
func (s *Source) Open(_ context.Context, rt pipeline.Runtime) error {
	s.rt = rt
	return s.expand()
}

// Run implements [pipeline.Source].
func (s *Source) Run(ctx context.Context) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		fatal error
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, s.cfg.Parallel)
	for _, in := range s.inputs {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			in.report.Stopped = true
			continue
		}
		lane := s.rt.NewLane(in.path, pipeline.LaneLimits{Batches: s.cfg.LaneBatches})
		if in.path == stdinPath && s.cfg.stdinID != "" {
			lane.SetID(s.cfg.stdinID)
			lane.SetRel("stdin")
		}
		wg.Go(func() {
			defer func() { <-slots }()
			err := s.lane(ctx, in, lane)
			if err == nil && !in.report.Stopped {
				lane.Complete()
			}
			s.rt.End(lane)
			if err == nil || errors.Is(err, errStopped) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if fatal == nil {
				fatal = err
				cancel()
			}
		})
	}
	wg.Wait()
	return fatal
}

// lane reads one input.
func (s *Source) lane(ctx context.Context, in *input, lane *pipeline.Lane) error {
	defer in.done.Store(true)
	defer in.release()
	in.report.Lane = lane
	st, err := s.open(ctx, in)
	if err != nil {
		in.report.Stopped = true
		return err
	}
	if st == nil {
		return s.stopAt(&in.report)
	}
	in.stream = nil // this goroutine's from here on
	r := &laneReader{
		cutter: cutter{rt: s.rt, framing: s.cfg.framing(in.path), maxRecord: s.cfg.MaxRecord, lane: lane, line: 1},
		st:     st, linger: s.cfg.Linger, report: &in.report,
	}
	r.mind()
	err = s.readLane(ctx, in, r)
	if err != nil || !in.report.Verdict.Damage() {
		return err
	}
	return s.conclude(ctx, in, r)
}

// readLane emits what is to be emitted of an input, and reports what became of it.
func (s *Source) readLane(ctx context.Context, in *input, r *laneReader) error {
	skip := false
	var err error
	if s.cfg.readsTwice() {
		skip, err = s.examineFirst(ctx, in, r)
	}
	if s.cfg.OnDamage == damageQuarantine && s.cfg.Hold {
		r.lane.Hold()
	}
	if !skip && err == nil {
		err = r.run(ctx)
	}
	r.finish(err != nil)
	return err
}

// Close implements [pipeline.Source]. It closes what Inspect has opened and Run
// has not come to.
func (s *Source) Close(context.Context) error {
	for _, in := range s.inputs {
		if in.stream != nil {
			in.stream.close()
			in.stream = nil
		}
	}
	return nil
}

// Reports returns what became of the inputs, in order. It is for after Run.
func (s *Source) Reports() []Report {
	reports := make([]Report, 0, len(s.inputs))
	for _, in := range s.inputs {
		reports = append(reports, in.report)
	}
	return reports
}

// Progress says how far Run has come. It may be called at any time after Open,
// from any goroutine.
func (s *Source) Progress() Progress {
	p := Progress{Files: len(s.inputs), Known: true}
	for _, in := range s.inputs {
		if in.done.Load() {
			p.FilesDone++
		}
		if in.size < 0 {
			p.Known = false
		} else {
			p.Bytes += in.size
		}
		p.BytesDone += in.read()
	}
	return p
}

// Interface guard.
var _ pipeline.Source = (*Source)(nil)
