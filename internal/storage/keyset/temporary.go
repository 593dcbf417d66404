package keyset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// temporary is the runFiles of sets that end with the process: a folder.
type temporary string

func (dir temporary) create() (*os.File, error) {
	f, err := os.CreateTemp(string(dir), "urlfold-keys-*")
	if err != nil {
		return nil, fmt.Errorf("temporary file for keys: %w", err)
	}
	// An open file needs no name on Unix, and without one it disappears with the
	// process. Elsewhere this fails, and remove does it later.
	_ = os.Remove(f.Name())
	return f, nil
}

func (temporary) done(*os.File, runInfo) error { return nil }

func (temporary) remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
