package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/pipeline"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// The names of the standard streams, as an input and as an output.
const (
	stdinPath  = "-"
	stdoutPath = "-"
)

// An output is where the records and the rejects of a run go.
type output struct {
	main   pipeline.Sink
	one    sink.Output // main, if all inputs go to one output
	tree   sink.Tree   // main, if each input has one
	dead   sink.Output // nil: rejects go the way of the others
	stdout bool
}

// streams are the standard streams of a run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// These paths lead to a pipe, a terminal or a file, as the shell has it: writing aside
// and renaming would replace what the shell has opened.
var (
	stdoutNames = []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
	stderrNames = []string{"/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"}
)

// newOutput returns the output that the settings ask for. It opens nothing yet.
func newOutput(s *settings, std streams, source *file.Source) (*output, error) {
	inputs, err := source.Paths()
	if err != nil {
		return nil, err
	}
	o := &output{stdout: s.outputDir == "" && (s.output == "" || s.output == stdoutPath)}
	mode := std.mode(inputs)
	if s.rejects != "" {
		c := sink.Config{Path: s.rejects, Inputs: inputs, Replace: s.force, Mode: mode}
		if slices.Contains(stderrNames, s.rejects) {
			c.Path, c.Writer = "", terminal.Writer(std.err)
		}
		if o.dead, err = sink.New(c); err != nil {
			return nil, err
		}
	}
	method := s.compress
	if method == autoCompress {
		method = ""
	}
	if s.outputDir != "" {
		outputs, err := mirror(s, source)
		if err != nil {
			return nil, usage(err)
		}
		o.tree, err = sink.NewTree(sink.TreeConfig{Outputs: outputs, Compress: method, Replace: s.force, Mode: mode})
		o.main = o.tree
		return o, err
	}
	c := sink.Config{Path: s.output, Compress: method, Inputs: inputs, Replace: s.force, Mode: mode}
	if o.stdout {
		c.Path, c.Writer = "", terminal.Writer(std.out)
	}
	o.one, err = sink.New(c)
	o.main = o.one
	return o, err
}

// mode bounds the permissions of outputs: what comes from stdin has those of a file
// at most, and a pipe has none.
func (s *streams) mode(inputs []string) fs.FileMode {
	if !slices.Contains(inputs, stdinPath) {
		return 0o666
	}
	perm := fs.FileMode(0o640)
	if f, ok := s.in.(*os.File); ok {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			perm &= fi.Mode().Perm()
		}
	}
	return perm
}

// deadLetter returns the sink of the rejects, nil if there is none.
func (o *output) deadLetter() pipeline.Sink {
	if o.dead == nil {
		return nil // and not an interface that holds a nil
	}
	return o.dead
}

// publish gives the files their names. The rejects go first: a record that is
// missing in the output is found there. The outputs of a tree were published as
// they became whole; what remains are those of inputs without a record.
func (o *output) publish(reports []file.Report) error {
	var withdrawn error
	if len(reports) == 1 && reports[0].Lane != nil {
		withdrawn = o.withdraw(reports[0].Lane)
	}
	if o.dead != nil {
		if err := errors.Join(withdrawn, o.dead.Publish()); err != nil {
			return err
		}
	}
	if o.tree == nil {
		return errors.Join(withdrawn, o.one.Publish())
	}
	var empty []string
	for i := range reports {
		if readable(reports[i].Verdict) {
			empty = append(empty, reports[i].Path)
		}
	}
	return o.tree.PublishEmpty(empty)
}

// withdraw takes what the only lane has withdrawn out of the outputs. Those of a tree
// have done so.
func (o *output) withdraw(l *pipeline.Lane) error {
	var errs []error
	for _, out := range []sink.Output{o.one, o.dead} {
		if out != nil {
			errs = append(errs, out.Withdraw(l))
		}
	}
	return errors.Join(errs...)
}

// readable reports whether a file could be read at all, damaged or not.
func readable(v compress.Verdict) bool {
	return v.Kind != compress.Unreadable && v.Kind != compress.UnsupportedFormat && v.Kind != compress.UnsupportedEncoding
}

// leave gives the output up, and returns the names of what stays. Of stdout
// nothing stays, and it is not asked: a write to it may hang for ever.
func (o *output) leave() []string {
	var parts []string
	if o.tree != nil {
		parts = o.tree.Parts()
	}
	for _, out := range []sink.Output{o.one, o.dead} {
		if out == nil || out == o.one && o.stdout {
			continue
		}
		name := out.Part()
		_ = out.Abort() // something else has gone wrong already
		if _, err := os.Lstat(name); name != "" && err == nil {
			parts = append(parts, name)
		}
	}
	return parts
}

// writeFile writes a file that tells about inputs as an output is written: aside,
// synced, and with their permissions.
func writeFile(name string, text []byte, inputs []string) error {
	out, err := sink.New(sink.Config{Path: name, Compress: "none", Inputs: inputs, Mode: 0o644, Replace: true})
	if err != nil {
		return err
	}
	ctx := context.Background() // the run is over, and a report is short
	if err := out.Open(ctx); err != nil {
		return err
	}
	stream := pipeline.Stream{Bytes: text}
	var res pipeline.Result
	err = out.Submit(ctx, nil, pipeline.NewTicket(&stream, func(r pipeline.Result) { res = r }))
	if err = errors.Join(err, res.Err, out.Close(ctx)); err == nil {
		return out.Publish()
	}
	return errors.Join(err, out.Abort())
}
