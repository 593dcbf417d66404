package keyset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// temporary is the runFiles of sets that end with the process: a folder.
type temporary string

func (dir temporary) create() (runOutput, error) {
	f, err := os.CreateTemp(string(dir), "urlfold-keys-*")
	if err != nil {
		return nil, fmt.Errorf("temporary file for keys: %w", err)
	}
	// An open file needs no name on Unix, and without one it disappears with the
	// process. Elsewhere this fails, and remove does it later.
	_ = os.Remove(f.Name())
	return unsynced{f}, nil
}

// unsynced is a file that ends with the process.
type unsynced struct{ *os.File }

// Sync does nothing.
func (unsynced) Sync() error { return nil }

func (temporary) remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (dir temporary) leave(name string) error { return dir.remove(name) }
