package cli

import (
	"fmt"
	"os"

	"github.com/urlfold/urlfold/internal/storage/disk"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// This file handles complete outputs just before they get their final names.

// perInput reports whether each input has its own output.
func (s *settings) perInput() bool { return s.OutputDir != "" || s.InPlace }

// beforePublish returns the function for sink.TreeConfig. It must be called before the
// inputs are read, because an input that changes after that is not replaced.
func (s *settings) beforePublish(source *file.Source) func(input, part string) error {
	stamps := map[string]string{}
	paths, _ := source.Paths() // prepare has reported the error
	for _, path := range paths {
		if fi, err := os.Stat(path); err == nil {
			stamps[path] = file.Stamp(fi)
		}
	}
	return func(input, part string) error {
		damaged := source.Verdict(input).Damage()
		if s.InPlace || s.Preserve {
			fi, err := os.Stat(input)
			switch {
			case err != nil:
				return err
			case s.InPlace && damaged:
				return sink.ErrKeep
			case s.InPlace && file.Stamp(fi) != stamps[input]:
				return fmt.Errorf("--in-place: %s: the file changed while urlfold read it, so urlfold did not replace it", input)
			}
			if err := disk.CopyAttributes(part, fi, s.Preserve); err != nil {
				return err
			}
		}
		if s.resumed == nil || damaged {
			return nil // the next run reads a damaged input again, so that it reports the damage again
		}
		return s.resumed.made(input, part)
	}
}
