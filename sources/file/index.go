package file

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
)

// This file reads and writes indexes of gzip files: see Config.Index.

// IndexAuto is the value of Config.Index that finds an index for each input.
const IndexAuto = "auto"

// indexExtension is the extension of the indexes of gztool. An index whose name
// ends in indexedExtension is written in the format of indexed_gzip.
const (
	indexExtension   = ".gzi"
	indexedExtension = ".gzidx"
)

// An indexing is the index of one input: either read or written.
type indexing struct {
	log    *slog.Logger
	input  string
	path   string // path of the index
	stamp  compress.Stamp
	file   *os.File // file of the index that is read, or nil
	read   *compress.Index
	writer *compress.IndexWriter
}

// openIndex opens the index of f, an input, or prepares to write an index while f is
// read. It returns nil if the input is not a gzip file.
func (s *Source) openIndex(in *input, f *os.File, opt *compress.Options) *indexing {
	head := make([]byte, rawHead)
	n, _ := f.ReadAt(head, 0) // the reader reports the error
	fi, err := f.Stat()
	if s.cfg.Index == "" || err != nil || compress.Detect(head[:n]) != compress.Gzip {
		return nil
	}
	x := &indexing{log: s.cfg.Logger, input: in.path}
	if x.stamp, err = compress.StampOf(f, fi.Size(), fi.ModTime().UnixNano()); err != nil {
		return nil
	}
	write := false
	x.path, write = s.indexPath(in.path)
	if err := x.open(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.log.Warn("index not used", "input", in.path, "index", x.path, "error", err)
		write = write && x.isOurs()
	}
	switch {
	case x.read != nil:
		opt.Index = x.read
	case write:
		x.writer = new(compress.IndexWriter)
		opt.IndexTo, opt.RestartEvery = x.writer, compress.IndexEvery
	}
	return x
}

// indexPath returns the path of the index of an input, and whether to write it
// if it does not exist. The path is Config.Index. With IndexAuto, it is the
// path of gztool's index beside the input, if there is one, and otherwise a
// path in the user's cache folder.
func (s *Source) indexPath(path string) (index string, write bool) {
	if s.cfg.Index != IndexAuto {
		return s.cfg.Index, true
	}
	beside := strings.TrimSuffix(path, ".gz") + indexExtension
	if _, err := os.Stat(beside); err == nil {
		return beside, false
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return beside, false
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name := sha256.Sum256([]byte(path))
	return filepath.Join(dir, "urlfold", hex.EncodeToString(name[:16])+indexExtension), true
}

// open opens the index, and checks that it belongs to the input.
func (x *indexing) open() error {
	f, err := os.Open(x.path)
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	var index *compress.Index
	if err == nil {
		index, err = compress.OpenIndex(f, fi.Size())
	}
	if err == nil {
		err = index.Check(x.stamp)
	}
	if err != nil {
		_ = f.Close() // opened for reading only
		return err
	}
	x.file, x.read = f, index
	return nil
}

// isOurs reports whether urlfold has written the existing index, so that it may
// replace it.
func (x *indexing) isOurs() bool {
	f, err := os.Open(x.path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	fi, err := f.Stat()
	return err == nil && compress.IsStamped(f, fi.Size())
}

// close closes the index. If all of the input was read and is intact, close
// writes the index that was collected.
func (x *indexing) close(intact bool) {
	if x.file != nil {
		if why := x.read.Mismatch(); why != "" {
			x.log.Warn("index not used", "input", x.input, "index", x.path, "error", why)
		}
		_ = x.file.Close() // opened for reading only
		x.file = nil
	}
	if !intact || x.writer == nil || !x.writer.Useful() || !x.unchanged() {
		return
	}
	if err := x.write(); err != nil {
		x.log.Warn("index not written", "input", x.input, "index", x.path, "error", err)
		return
	}
	x.log.Info("index written", "input", x.input, "index", x.path)
}

// unchanged reports whether the input still has its size and time.
func (x *indexing) unchanged() bool {
	fi, err := os.Stat(x.input)
	return err == nil && fi.Size() == x.stamp.Size && fi.ModTime().UnixNano() == x.stamp.ModTime
}

// write writes the index and then gives it its name.
func (x *indexing) write() error {
	if err := disk.MkdirAll(filepath.Dir(x.path), 0o700); err != nil {
		return err
	}
	part := x.path + ".part"
	f, err := disk.Recreate(part, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = x.writer.Write(w, strings.HasSuffix(x.path, indexedExtension), x.stamp)
	err = errors.Join(err, w.Flush())
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		return disk.Publish(part, x.path)
	}
	return errors.Join(err, disk.Remove(part))
}
