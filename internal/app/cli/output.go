package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/discard"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// The arguments that mean stdin as an input and stdout as an output.
const (
	stdinPath  = "-"
	stdoutPath = "-"
)

// An output holds the sinks for the records and the rejected records of a run.
type output struct {
	main    engine.Sink
	one     sink.Output // main, if all inputs share one output; else nil
	tree    sink.Tree   // main, if each input or each host has its own output; else nil
	dead    sink.Output // nil: rejected records go to main
	stdout  bool        // main writes to stdout
	dry     bool        // nothing is written
	letters engine.Sink // the dead letters of a dry run

	paths map[string]string // the path of each input's output, with --output-dir
}

// streams holds the standard streams of a run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// These paths name the streams that the shell has opened, whether a pipe, a
// terminal or a file. They must not be written through a temporary file and a
// rename, which would replace the path.
var (
	stdoutNames = []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
	stderrNames = []string{"/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"}
)

// newOutput returns the output that s describes. It opens no file.
func newOutput(s *settings, std streams, source *file.Source, f *formats) (*output, error) {
	inputs, err := source.Paths()
	if err != nil {
		return nil, err
	}
	if err := s.refuseTerminal(std.out); err != nil {
		return nil, command.Usage(err)
	}
	if s.DryRun {
		return newDryOutput(s, source)
	}
	o := &output{stdout: !s.perInput() && (s.Output == "" || s.Output == stdoutPath)}
	mode := std.mode(inputs)
	if s.Rejects != "" {
		c := sink.Config{Path: s.Rejects, Objects: s.objects, Inputs: inputs, Replace: s.Force, Mode: mode, DeadLetter: true}
		if slices.Contains(stderrNames, s.Rejects) {
			c.Path, c.Writer = "", terminal.Writer(std.err)
		}
		if o.dead, err = sink.New(c); err != nil {
			return nil, err
		}
	}
	method := s.Compress
	if method == autoCompress {
		method = ""
	}
	header := s.headerLine(f)
	if s.perInput() {
		if o.paths, err = mirror(s, source); err != nil {
			return nil, command.Usage(err)
		}
		c := sink.TreeConfig{Outputs: o.paths, Objects: s.objects, Compress: method, Replace: s.Force || s.Resume, Mode: mode, NewEncoder: s.newEncoder(f), Header: header}
		c.Replace, c.InPlace, c.BeforePublish = c.Replace || s.InPlace, s.InPlace, s.beforePublish(source)
		o.tree, err = sink.NewTree(c)
		o.main = o.tree
		return o, err
	}
	c := sink.Config{Path: s.Output, Objects: s.objects, Compress: method, Inputs: inputs, Replace: s.Force, Mode: mode, NewEncoder: s.oneEncoder(f), Header: header, Unbuffered: s.LineBuffered}
	if s.divided() {
		o.tree, err = s.newDivided(c)
		o.main = o.tree
		return o, err
	}
	if o.stdout {
		c.Path, c.Writer = "", terminal.Writer(std.out)
	}
	if o.one, err = sink.New(c); err == nil && s.Sort != "" {
		o.one = newSorted(o.one, s, f)
	}
	o.main = o.one
	return o, err
}

// newDryOutput returns an output that writes nothing. It checks what can be checked.
func newDryOutput(s *settings, source *file.Source) (o *output, err error) {
	o = &output{main: discard.New(discard.Config{}), dry: true}
	if s.Rejects != "" {
		o.letters = discard.New(discard.Config{})
	}
	if s.perInput() {
		if o.paths, err = mirror(s, source); err != nil {
			return nil, command.Usage(err)
		}
	}
	return o, nil
}

// headerLine returns the line at the beginning of each output, or nil. All
// formats write the same fields.
func (s *settings) headerLine(f *formats) []byte {
	if s.Header == "no" || s.Header == "auto" && s.record.Render != record.RenderCSV {
		return nil
	}
	return f.job("").Header()
}

// mode returns the maximum permissions of the outputs. If stdin or an object
// is among the inputs, they are 0640, further limited by the permissions of the file that
// stdin is redirected from, if any.
func (s *streams) mode(inputs []string) fs.FileMode {
	if !slices.ContainsFunc(inputs, func(path string) bool { return path == stdinPath || objects.Is(path) }) {
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

// publish renames the outputs to their final names. It publishes the rejected
// records first, so that every record missing from the output can be found. A
// tree publishes each output when it is complete; publish adds the outputs of
// inputs without records.
func (o *output) publish(reports []file.Report) error {
	if o.dry {
		return nil
	}
	var withdrawn error
	if len(reports) == 1 && reports[0].Lane != nil {
		for _, out := range []sink.Output{o.one, o.dead} { // a tree withdraws from its outputs itself
			if out != nil {
				withdrawn = errors.Join(withdrawn, out.Withdraw(reports[0].Lane))
			}
		}
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

// readable reports whether any of a file could be read, even if it is damaged.
func readable(v compress.Verdict) bool {
	return v.Kind != compress.Unreadable && v.Kind != compress.UnsupportedFormat && v.Kind != compress.UnsupportedEncoding
}

// leave abandons the output and returns the names of the incomplete files that
// remain. It does not touch stdout, where a write could block forever.
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
		_ = out.Abort() // an earlier error is being reported
		if _, err := os.Lstat(name); name != "" && err == nil {
			parts = append(parts, name)
		}
	}
	return parts
}

// writeFile writes text to the file called name in the same way as an output:
// to a temporary file that is synced and renamed. The permissions of the file
// are at most 0644, and are limited by the permissions of the inputs.
func writeFile(name string, text []byte, inputs []string) error {
	return writeResult(nil, name, "none", text, inputs)
}

// writeResult is like writeFile, but name may also be the URL of an object in
// store. compress is the compression, as in sink.Config; if it is empty, the
// extension of name decides.
func writeResult(store *objects.Store, name, compress string, text []byte, inputs []string) error {
	out, err := sink.New(sink.Config{Path: name, Objects: store, Compress: compress, Inputs: inputs, Mode: 0o644, Replace: true})
	if err != nil {
		return err
	}
	ctx := context.Background() // a signal must not stop the report, which is short
	if err := out.Open(ctx); err != nil {
		return err
	}
	if err = errors.Join(submitText(ctx, out, text), out.Close(ctx)); err == nil {
		return out.Publish()
	}
	return errors.Join(err, out.Abort())
}
