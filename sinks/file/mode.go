package file

import (
	"io/fs"
	"os"

	"github.com/urlfold/urlfold/pipeline"
)

// An output holds what its inputs hold, so nobody may read it who may not read all
// of them: its permissions are those of each of its inputs and those of the
// configuration, and the umask takes from them, too. The user of the process may
// always read and write it, since the next run may have to continue it.

const (
	// ownerMode is what every output has.
	ownerMode fs.FileMode = 0o600
	// streamMode is what an input allows that is no file and so has no permissions:
	// a broker, a pipe.
	streamMode fs.FileMode = 0o640
	// oneShotMode is what an [Output] has at most.
	oneShotMode fs.FileMode = 0o666
)

// allowed returns the permissions that all of modes have.
func allowed(modes ...fs.FileMode) fs.FileMode {
	perm := fs.ModePerm
	for _, m := range modes {
		perm &= m.Perm()
	}
	return perm | ownerMode
}

// modeOfLane returns what the input of l allows.
func modeOfLane(l *pipeline.Lane) fs.FileMode {
	if l == nil {
		return streamMode
	}
	if perm, known := l.Perm(); known {
		return perm
	}
	return streamMode
}

// modeOfFiles returns what the files of these paths allow. What cannot be looked at
// allows all: it cannot be read either.
func modeOfFiles(paths []string) fs.FileMode {
	perm := fs.ModePerm
	for _, path := range paths {
		fi, err := os.Stat(path)
		switch {
		case err != nil:
		case fi.Mode().IsRegular():
			perm &= fi.Mode()
		default:
			perm &= streamMode
		}
	}
	return perm
}

// narrow takes the permissions from o, which is open, that the next record does not
// allow. It gives none. The caller holds mu.
func (d *diskFiles) narrow(o *output, allow fs.FileMode) {
	want := allowed(o.mode, fs.FileMode(d.cfg.Mode), allow)
	if want == o.mode || o.f == nil {
		return
	}
	o.mode = want
	fi, err := o.f.Stat()
	if err == nil && fi.Mode().Perm()&^want != 0 {
		err = o.f.Chmod(fi.Mode().Perm() & want)
	}
	if err != nil { // not every file system has permissions
		d.log.Warn("output permissions not narrowed", "path", o.name, "want", want.String(), "error", err)
	}
}
