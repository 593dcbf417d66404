package file

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/internal/compress"
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
}

// New returns a source. The error tells all that is wrong with cfg, joined. It
// looks at no file.
func New(cfg Config) (*Source, error) {
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Source{cfg: cfg}, nil
}

// Paths returns the paths of all inputs, in order. The first of Paths, Peek and
// Open looks which files there are; the others find the same. The error names
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

func (s *Source) expand() error {
	if s.expanded {
		return s.expErr
	}
	s.expanded = true
	files, err := expand(s.cfg.Paths)
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

// Peek returns the first n bytes, decompressed, of the first input that has any,
// or fewer if it has fewer. A pipe that is slow gives what has come of it, a line
// at least. Nothing is lost: the bytes are emitted later as if nobody had looked.
// Peek is for before Run. It returns nothing if all inputs are empty or cannot be
// read, and the error of ctx if that ends first.
func (s *Source) Peek(ctx context.Context, n int) ([]byte, error) {
	if err := s.expand(); err != nil {
		return nil, err
	}
	for _, in := range s.inputs {
		st := s.open(in)
		if st == nil {
			continue
		}
		head, err := st.peek(ctx, n, s.cfg.Linger)
		if errors.Is(err, errStopped) {
			return nil, context.Cause(ctx)
		}
		if len(head) > 0 {
			return slices.Clone(head), nil
		}
		if in.path != stdinPath && st.pump == nil {
			// It is opened again in its turn. A thousand empty files that stay open
			// would cost a thousand file descriptors.
			st.close()
			in.stream = nil
		}
	}
	return nil, nil
}

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
		wg.Go(func() {
			defer func() { <-slots }()
			err := s.lane(ctx, in, lane)
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
	in.report.Lane = lane
	st := s.open(in)
	if st == nil {
		return nil
	}
	in.stream = nil // this goroutine's from here on
	r := &laneReader{
		cutter: cutter{rt: s.rt, framing: s.cfg.Framing, maxRecord: s.cfg.MaxRecord, lane: lane, line: 1},
		st:     st, linger: s.cfg.Linger, report: &in.report,
	}
	err := r.run(ctx)
	r.finish(err != nil)
	return err
}

// Close implements [pipeline.Source]. It closes what Peek has opened and Run has
// not come to.
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
		if zr := in.live.Load(); zr != nil {
			p.BytesDone += zr.CompressedBytes()
		}
	}
	return p
}

// Interface guard.
var _ pipeline.Source = (*Source)(nil)
