package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Creatable returns an error if this process could not make files in dir, or could
// not make dir, with the folders around it that are not there yet. It makes nothing.
func Creatable(dir string) error {
	for {
		fi, err := os.Stat(dir)
		switch {
		case err == nil && !fi.IsDir():
			return fmt.Errorf("%s: %w", dir, syscall.ENOTDIR)
		case err == nil && ofKernel(dir):
			return fmt.Errorf("%s: %w", dir, errKernel)
		case err == nil:
			return Writable(dir)
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return err
		}
		dir = parent
	}
}

var errKernel = errors.New("no files can be made here: it is a view into the kernel")
