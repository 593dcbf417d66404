package cli

import (
	"fmt"
	"os"

	"github.com/urlfold/urlfold/sources/file"
)

// checkIndex returns an error if --index names a file and there is not exactly
// one input, which must be a file, or if it names an input.
func (s *settings) checkIndex(inputs []string) error {
	if s.Index == "" || s.Index == file.IndexAuto {
		return nil
	}
	if len(inputs) != 1 || inputs[0] == stdinPath {
		return fmt.Errorf("--index: %s can only be the index of a single input file; use --index auto", s.Index)
	}
	in, err := os.Stat(inputs[0])
	index, e := os.Stat(s.Index)
	if err == nil && e == nil && os.SameFile(in, index) {
		return fmt.Errorf("--index: %s is the input", s.Index)
	}
	return nil
}
