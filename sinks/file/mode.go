package file

import (
	"io/fs"
	"os"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// An output contains data of its inputs, so only users who may read all inputs may read
// the output. Its permissions are the intersection of the permissions of its inputs and
// of the configuration, less the umask. The user of the process can always read and
// write it, because the next run may have to continue it.

const (
	// ownerMode is the minimum for every output.
	ownerMode fs.FileMode = 0o600
	// streamMode is used for inputs that are not files and have no permissions,
	// such as brokers and pipes.
	streamMode fs.FileMode = 0o640
	// oneShotMode is the maximum for an [Output].
	oneShotMode fs.FileMode = 0o666
)

// allowed returns the intersection of modes, plus ownerMode.
func allowed(modes ...fs.FileMode) fs.FileMode {
	perm := fs.ModePerm
	for _, m := range modes {
		perm &= m.Perm()
	}
	return perm | ownerMode
}

// modeOfLane returns the permissions that the input of l allows.
func modeOfLane(l *engine.Lane) fs.FileMode {
	if l == nil {
		return streamMode
	}
	if perm, known := l.Perm(); known {
		return perm
	}
	return streamMode
}

// modeOfFiles returns the permissions that the files at paths allow. A file
// whose permissions cannot be determined counts as allowing all, because it
// cannot be read either.
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

// narrow removes the permissions from o that allow does not contain. It never
// adds any, and does nothing if o is closed. The caller holds mu.
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
