package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Creatable returns an error if this process cannot create files in dir or, if
// dir does not exist, cannot create dir and its missing parents. It creates
// nothing.
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
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || parent == dir {
			return err
		}
		dir = parent
	}
}

var errKernel = errors.New("cannot create files here: this is a virtual file system of the kernel")
