package disk

import (
	"io/fs"
	"os"
)

// CopyAttributes gives the file called name the mode of the file that fi
// describes, its owner and group if the system permits, and, if times is set,
// its time of modification, as cp -p does.
func CopyAttributes(name string, fi fs.FileInfo, times bool) error {
	mode := fi.Mode().Perm()
	if uid, gid, known := owner(fi); known {
		if os.Lchown(name, uid, gid) != nil {
			_ = os.Lchown(name, -1, gid) // only root may give a file away
		}
	}
	if err := os.Chmod(name, mode); err != nil {
		return err
	}
	if !times {
		return nil
	}
	return os.Chtimes(name, fi.ModTime(), fi.ModTime())
}
