package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/urlfold/urlfold/pipeline"
	sink "github.com/urlfold/urlfold/sinks/file"
)

// The names of the standard streams, as an input and as an output.
const (
	stdinPath  = "-"
	stdoutPath = "-"
)

// An output is where the records and the rejects of a run go.
type output struct {
	main   sink.Output
	dead   sink.Output // nil: rejects go the way of the others
	stdout bool
}

// newOutput returns the output that the settings ask for. It opens nothing yet.
func newOutput(s *settings, stdout io.Writer, inputs []string) (*output, error) {
	o := &output{stdout: s.output == "" || s.output == stdoutPath}
	c := sink.Config{Path: s.output, Compress: s.compress, Inputs: inputs}
	if o.stdout {
		c.Path, c.Writer = "", stdout
	}
	if c.Compress == autoCompress {
		c.Compress = ""
	}
	var err, deadErr error
	o.main, err = sink.New(c)
	if s.rejects != "" {
		o.dead, deadErr = sink.New(sink.Config{Path: s.rejects, Inputs: inputs})
	}
	return o, errors.Join(err, deadErr)
}

// deadLetter returns the sink of the rejects, nil if there is none.
func (o *output) deadLetter() pipeline.Sink {
	if o.dead == nil {
		return nil // and not an interface that holds a nil
	}
	return o.dead
}

// publish gives the files their names. The rejects go first: a record that is
// missing in the output is found there.
func (o *output) publish() error {
	if o.dead != nil {
		if err := o.dead.Publish(); err != nil {
			return err
		}
	}
	return o.main.Publish()
}

// leave gives the output up, and returns the names of what stays. Of stdout
// nothing stays, and it is not asked: a write to it may hang for ever.
func (o *output) leave() []string {
	var parts []string
	for _, out := range []sink.Output{o.main, o.dead} {
		if out == nil || out == o.main && o.stdout {
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

// writeFile writes a small file aside, syncs it, and gives it its name, so that
// nobody ever reads half of it.
func writeFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".part*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // after the rename it is not there
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil { //nolint:forbidigo // this is the helper, and the sink's does not know small files
		return err
	}
	if runtime.GOOS == "windows" {
		return nil // a folder cannot be synced there
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
