package keyset

import "github.com/urlfold/urlfold/internal/storage/disk"

// temporary is the runFiles of sets that end with the process: a folder.
type temporary string

func (dir temporary) create() (runOutput, error) { return disk.NewTemporary(string(dir), "keys") }

// remove does nothing: closing the file has removed it.
func (temporary) remove(string) error { return nil }
