package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Report describes the result of reading one input.
type Report struct {
	Path            string // "-" for stdin
	Index           int    // index of the input in the expanded Config.Paths, where inputs that Config.Select excludes count
	Format          compress.Format
	Encoding        string // what was converted, such as "UTF-16LE"
	Verdict         compress.Verdict
	CompressedBytes int64        // read from the file
	Bytes           int64        // bytes of decompressed text that could be read
	Lines           int64        // line ends in the emitted text
	Lost            int64        // bytes at the end of the text that were not emitted: an incomplete record before a cut
	Gone            int64        // bytes in the file, as stored, that were removed or truncated unread
	Limited         bool         // Config.Limit ended the reading, so the verdict is not known
	Stopped         bool         // the run stopped before the end of the input, or without opening it
	Verified        Extent       // beginning of the text that checksums verify, up to the last record end
	Unverified      Extent       // the text after that: what was emitted, or, if Withheld, all that can be read
	Misfit          int64        // line of the first unverified record of a damaged file that does not fit the format (best effort); 0: none found
	Unsummed        bool         // the input is compressed, and checksums do not cover all of it
	Withheld        bool         // the unverified part is in no output
	Known           string       // verdict of an earlier run on a damaged file that has not changed since; if it is not empty, only Path is set as well
	Members         int64        // complete members of the file, as in compress.Verification
	Good            int64        // offset in the file after the last intact member before any damage
	Lane            *engine.Lane // nil if the run never reached the input
}

// A Progress is the progress of a source, for display: its numbers are not
// taken at one instant.
type Progress struct {
	Files, FilesDone int
	// Bytes is the stored (compressed) size of all files, and BytesDone the
	// part of it that was read. Known is false if the size of an input is
	// unknown.
	Bytes, BytesDone int64
	Known            bool
}

// A Source reads files once. See the package documentation.
type Source struct {
	cfg      Config
	rt       engine.Runtime
	opened   chan struct{} // closed when rt is set
	blocks   chan []byte   // blocks that no hold uses
	expanded bool
	expErr   error
	inputs   []*input
	skipped  []Skipped
	left     int64                    // records that Config.Limit still permits
	sample   *sampler                 // nil: none
	at       func(point string) error // fault.At, except in tests
}

// New returns a source for cfg. The error joins everything that is wrong with
// cfg. New does not access any file.
func New(cfg Config) (*Source, error) {
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Source{cfg: cfg, at: fault.At, opened: make(chan struct{}), blocks: make(chan []byte, holdBytes/holdBlock), left: cfg.Limit}
	if cfg.Sample != nil {
		s.sample = &sampler{Sample: *cfg.Sample}
	}
	return s, nil
}

// Paths returns the paths of all inputs, in order. The first call of Paths,
// Inspect or Open expands Config.Paths; later calls use the same list. The
// error names every path that matches no file: see [ErrNoInput].
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

// A Skipped is a file that a source leaves out.
type Skipped struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Skipped returns the files that the source leaves out: links in a folder that
// lead nowhere, and the files of [Source.Skip]. It must be called after Paths.
func (s *Source) Skipped() []Skipped { return s.skipped }

// Skip leaves out the input at path. It must be called after Inspect and before Open.
func (s *Source) Skip(path, why string) {
	s.Leave(path)
	s.skipped = append(s.skipped, Skipped{path, why})
}

// Leave leaves out the input at path. Unlike Skip, it does not add the input to
// what Skipped returns. It must be called after Paths, and before Open.
func (s *Source) Leave(path string) {
	s.drop(path)
	s.inputs = slices.DeleteFunc(s.inputs, func(in *input) bool { return in.path == path })
}

// Verdict returns the verdict on the input at path, whose lane must be
// complete.
func (s *Source) Verdict(path string) (v compress.Verdict) {
	for _, in := range s.inputs {
		if in.path == path {
			v = in.report.Verdict
		}
	}
	return v
}

// Stamp returns the size, the time of modification and the identity of a file. A file
// with the same stamp has the same content, unless a program has set its modification
// time back.
func Stamp(fi fs.FileInfo) string {
	s := fileStateOf("", "", fi)
	return fmt.Sprint(s.size, s.mtime, s.id)
}

// Judge ends the input at path with the verdict v, without emitting any of it.
// It must be called after Inspect and before Open.
func (s *Source) Judge(path string, v compress.Verdict) {
	for _, in := range s.drop(path) {
		in.judged, in.report.Verdict, in.report.Format, in.report.CompressedBytes = true, v, v.Format, max(0, in.size)
	}
}

// drop closes the inputs at path, and returns them.
func (s *Source) drop(path string) (list []*input) {
	for _, in := range s.inputs {
		if in.path != path {
			continue
		}
		if list = append(list, in); in.stream != nil {
			in.stream.close()
			in.stream = nil
		}
	}
	return list
}

// Rels returns the relative path of each input, by its path. For a file that
// Config.Paths names itself, the relative path is the base name; for a file
// found through a folder or a glob, it is the path below the folder or below
// the fixed part of the glob. Stdin is not in the map.
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
		files, err = s.cfg.expand()
		return err
	})
	if err == nil && len(s.cfg.Exclude) > 0 {
		files, err = s.cfg.exclude(files)
	}
	s.expErr = err
	for i, f := range files {
		if s.cfg.Select != nil && f.path != stdinPath && !s.cfg.Select(filepath.ToSlash(f.rel)) {
			continue
		}
		if errors.Is(f.err, errDangling) {
			s.skipped = append(s.skipped, Skipped{f.path, dangling})
			continue
		}
		in := &input{found: f, size: -1}
		in.report.Path, in.report.Index = f.path, i
		if f.object != nil {
			in.size = f.object.Size
		} else if fi, err := os.Stat(f.path); err == nil && fi.Mode().IsRegular() {
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
// decompressed text, or all of it if it is shorter. If these bytes do not hold
// two whole lines, head is longer: up to most bytes. v is the verdict so far: it
// reports damage within these bytes, or that the input cannot be read. For a
// slow pipe, head holds what has arrived, at least one line. Inspect consumes
// nothing: Run emits the same bytes later. visit may use head only until it
// returns. Inspect must be called before Run. It returns the error of ctx if
// ctx is done first.
func (s *Source) Inspect(ctx context.Context, n, most int, visit func(path string, head []byte, v compress.Verdict)) error {
	if err := s.expand(); err != nil {
		return err
	}
	defer closeEarly(s.inputs)
	for i, in := range s.inputs {
		s.openEarly(s.inputs[i:min(i+earlyObjects, len(s.inputs))])
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
		head, err := st.peekLines(ctx, n, most, s.cfg.Linger)
		if errors.Is(err, errStopped) {
			return context.Cause(ctx)
		}
		var v compress.Verdict
		if st.ended {
			v = s.remedy(in, st.zr.Verdict())
		}
		visit(in.path, head, v)
		if in.path != stdinPath && st.pump == nil && len(s.inputs) > 1 {
			// Run opens it again: with a thousand inputs, keeping each open
			// would take a thousand descriptors.
			st.close()
			in.stream = nil
		}
	}
	return nil
}

// Hold sets Config.Hold. It must be called before Run.
func (s *Source) Hold() { s.cfg.Hold = true }

// Open implements [engine.Source].
func (s *Source) Open(_ context.Context, rt engine.Runtime) error {
	s.rt = rt
	close(s.opened)
	return s.expand()
}

// turn is the function Turn of readers. It waits for the pipeline, because
// [Source.Inspect] may open readers earlier.
func (s *Source) turn(stop <-chan struct{}) (done func(), ok bool) {
	select {
	case <-s.opened:
		return s.rt.Turn(stop)
	case <-stop:
		return nil, false
	}
}

// Run implements [engine.Source].
func (s *Source) Run(ctx context.Context) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		fatal error
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, s.cfg.Parallel)
	for i, in := range s.inputs {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			in.report.Stopped = true
			continue
		}
		if s.cfg.Limit > 0 && s.left == 0 {
			in.report.Limited = true
			<-slots
			continue
		}
		lane := s.rt.NewLane(in.path, engine.LaneLimits{})
		lane.SetRel(in.rel)
		if in.path == stdinPath && s.cfg.stdinID != "" {
			lane.SetID(s.cfg.stdinID)
			lane.SetRel("stdin")
		}
		wg.Go(func() {
			defer func() { <-slots }()
			err := s.lane(ctx, i, lane)
			if s.sample == nil {
				s.end(in, err == nil)
			}
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
	if s.sample != nil && fatal == nil && ctx.Err() == nil {
		fatal = s.emitSample(ctx)
	}
	return fatal
}

// end ends the lane of an input.
func (s *Source) end(in *input, whole bool) {
	if whole && !in.report.Stopped {
		in.report.Lane.Complete()
	}
	s.rt.End(in.report.Lane)
}

// lane reads the i-th input.
func (s *Source) lane(ctx context.Context, i int, lane *engine.Lane) error {
	in := s.inputs[i]
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
	in.stream = nil // from here on this goroutine owns it
	r := &laneReader{
		cutter: cutter{rt: s.rt, framing: s.cfg.framing(in.path), lane: lane, line: 1},
		st:     st, linger: s.cfg.Linger, report: &in.report,
	}
	r.maxRecord = recordLimit(r.framing, s.cfg.MaxRecord)
	r.mind()
	if s.cfg.Limit > 0 || s.sample != nil {
		p := &picker{Runtime: s.rt, framing: r.framing, sample: s.sample, index: i}
		if s.cfg.Limit > 0 {
			p.limit = &s.left
		}
		r.rt = p
	}
	skip := false
	// Examine the input before any record is emitted.
	if s.cfg.OnDamage == damageSkip || s.cfg.OnDamage == damageQuarantine && !s.cfg.Hold {
		skip, err = s.examineFirst(ctx, in, r)
	}
	if s.cfg.OnDamage == damageQuarantine && s.cfg.Hold {
		r.lane.Hold()
	}
	if !skip && err == nil {
		// Let the lane decompress text while it waits for earlier lanes.
		if lanes := min(len(s.inputs), s.cfg.Parallel); lanes > 1 && r.st.pump == nil {
			r.st.hold = &hold{zr: r.st.zr, room: holdBytes / holdBlock / (lanes - 1), free: s.blocks}
			r.lane.SetSpare(r.st.hold.fill)
		}
		err = r.run(ctx)
		r.lane.SetSpare(nil) // the lane outlives its reader
	}
	r.finish(err != nil)
	in.report.Verdict = s.remedy(in, in.report.Verdict)
	if err != nil || !in.report.Verdict.Damage() {
		return err
	}
	return s.conclude(ctx, in, r)
}

// Close implements [engine.Source]. It closes the inputs that Inspect opened
// and Run did not reach.
func (s *Source) Close(context.Context) error {
	for _, in := range s.inputs {
		if in.stream != nil {
			in.stream.close()
			in.stream = nil
		}
	}
	return nil
}

// Reports returns the reports of all inputs, in order. It must be called after
// Run has returned.
func (s *Source) Reports() []Report {
	reports := make([]Report, 0, len(s.inputs))
	for _, in := range s.inputs {
		reports = append(reports, in.report)
	}
	return reports
}

// Progress returns how far Run has come. It may be called at any time after
// Open, from any goroutine.
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
