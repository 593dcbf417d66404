package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A Temporary is a file that disappears with the process, however it ends.
type Temporary struct{ *os.File }

// NewTemporary creates a file for what, such as "keys", in the folder dir, or in the
// operating system's temporary folder if dir is empty.
func NewTemporary(dir, what string) (Temporary, error) {
	f, err := os.CreateTemp(dir, "urlfold-"+what+"-*")
	if err != nil {
		return Temporary{}, fmt.Errorf("temporary file for %s: %w", what, err)
	}
	// An open file needs no name on Unix, and without one it disappears with
	// the process. On other systems, Remove fails here, and Close removes
	// the file.
	_ = os.Remove(f.Name())
	return Temporary{f}, nil
}

// Sync does nothing.
func (Temporary) Sync() error { return nil }

// Close closes and removes the file.
func (t Temporary) Close() error {
	err := t.File.Close()
	if e := os.Remove(t.Name()); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}
