package keyset

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
)

// A Folder holds runs that survive the process. It does not know which runs are
// in use: the caller stores their [RunInfo] in its state, and removes the other
// runs with Sweep. A run is never changed, and its name is never used again, so
// a state that names it stays valid for as long as the file exists.
//
//	folder.Write   a sorted sequence of keys becomes a run, which is synced
//	(the caller stores its RunInfo, and syncs that)
//	folder.Open    after a restart
//	folder.Merge   several runs become one; the old ones stay
//	(the caller stores the new RunInfo in place of the old ones)
//	folder.Sweep   removes what no state names
//
// A Folder must have a single writer; any number of processes may read.
type Folder struct {
	dir   string
	fault func(point string) error // in tests, a plan
}

// runSuffix is the end of the names of runs.
const runSuffix = ".keys"

// OpenFolder returns the folder dir, which it creates if it is missing.
func OpenFolder(dir string) (*Folder, error) {
	if err := disk.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	return &Folder{dir, fault.At}, nil
}

// Write writes keys with their stamps as a run, and opens the run. The keys
// must be in ascending order, each once. When Write returns, the file and its
// name are durable. After an error, which names the file, nothing remains of
// the file.
func (f *Folder) Write(keys iter.Seq2[Key, uint32]) (*Run, error) {
	return f.write(func(w *runWriter) error {
		for k, stamp := range keys {
			if err := w.add(k, stamp); err != nil {
				return err
			}
		}
		return nil
	})
}

// Merge writes the keys of all runs, each once and with its newest stamp, as a new
// run, and opens it. It leaves out keys whose newest stamp is before least. The
// runs stay as they are, except that their filters are released until their next
// use.
func (f *Folder) Merge(least uint32, runs ...*Run) (*Run, error) {
	for _, r := range runs {
		r.unload()
	}
	return f.write(func(w *runWriter) error { return merge(w, least, runs) })
}

func (f *Folder) write(fill func(w *runWriter) error) (*Run, error) {
	out, err := f.create()
	if err != nil {
		return nil, err
	}
	r, err := writeRun(out, fill)
	if err == nil {
		err = disk.SyncDir(f.dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keys: %w", err), out.Close(), f.remove(out.Name()))
	}
	return r, nil
}

// Open opens a run. The error names the file; it matches fs.ErrNotExist if the file is
// missing, and describes the damage if the file is damaged or has other content. A
// damaged block is only found when it is read.
func (f *Folder) Open(info RunInfo) (*Run, error) {
	file, err := os.Open(filepath.Join(f.dir, filepath.Base(info.Name)))
	if err != nil {
		return nil, fmt.Errorf("run of %d keys: %w", info.Keys, err)
	}
	fi, err := file.Stat()
	if err == nil && fi.Size() != info.Bytes {
		err = fmt.Errorf("%s: %w: %d bytes instead of %d", file.Name(), errDamaged, fi.Size(), info.Bytes)
	}
	var r *Run
	if err == nil {
		r, err = openRun(file, fi.Size())
	}
	if err == nil && r.info != info {
		r.unload()
		err = fmt.Errorf("%s: %w: the content changed after it was written", file.Name(), errDamaged)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// openAll opens runs. After an error, it returns the runs that it has opened.
func (f *Folder) openAll(infos []RunInfo) (runs []*Run, err error) {
	for _, info := range infos {
		r, err := f.Open(info)
		if err != nil {
			return runs, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// infosOf describes runs.
func infosOf(runs []*Run) []RunInfo {
	infos := []RunInfo{}
	for _, r := range runs {
		infos = append(infos, r.info)
	}
	return infos
}

// Sweep removes the runs that named does not contain, such as runs that a crash
// left unfinished.
func (f *Folder) Sweep(named []RunInfo) error {
	keep := map[string]bool{}
	for _, info := range named {
		keep[info.Name] = true
	}
	files, err := os.ReadDir(f.dir)
	errs := []error{err}
	for _, file := range files {
		if name := file.Name(); strings.HasSuffix(name, runSuffix) && !keep[name] {
			errs = append(errs, f.remove(filepath.Join(f.dir, name)))
		}
	}
	return errors.Join(errs...)
}

// create implements runFiles.
func (f *Folder) create() (runOutput, error) { return f.createFile(runSuffix) }

// createFile creates a file with a new name.
func (f *Folder) createFile(suffix string) (*durable, error) {
	name := filepath.Join(f.dir, fmt.Sprintf("%016x%s", rand.Uint64(), suffix))
	out, err := disk.Open(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o640)
	if err != nil {
		return nil, err
	}
	return &durable{out, f.fault}, nil
}

// durable is the file of a run, with the points at which a test can make it fail.
type durable struct {
	*disk.File
	fault func(point string) error
}

// Write implements io.Writer. Its error names the file.
func (d *durable) Write(p []byte) (int, error) {
	if err := d.fault("keyset.write"); err != nil {
		return 0, &os.PathError{Op: "write", Path: d.Name(), Err: err}
	}
	return d.File.Write(p)
}

// WriteAt implements io.WriterAt. Its error names the file.
func (d *durable) WriteAt(p []byte, off int64) (int, error) {
	if err := d.fault("keyset.write"); err != nil {
		return 0, &os.PathError{Op: "write", Path: d.Name(), Err: err}
	}
	return d.File.WriteAt(p, off)
}

// Sync makes the content of the file durable.
func (d *durable) Sync() error {
	if err := d.fault("keyset.sync"); err != nil {
		return &os.PathError{Op: "sync", Path: d.Name(), Err: err}
	}
	return d.File.Sync()
}

func (*Folder) remove(name string) error {
	if err := disk.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
