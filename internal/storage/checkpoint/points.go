package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

const (
	restartDir = "restart"
	maxPoint   = 1 << 20 // maximum size of a restart point in bytes
	pointSum   = 8       // size of the preceding checksum
)

// points manages the restart points on disk. It never uses an id again while a
// file with that id may exist.
type points struct {
	dir  string
	last *atomic.Int64

	there map[int64]bool
	stale []int64 // points named by the commit before the last commit, but not by the last commit
	dirty bool    // names were added since the last sync of the folder
}

func (p *points) path(id int64) string { return filepath.Join(p.dir, strconv.FormatInt(id, 10)) }

// write makes the content of a point durable, but not yet its name. It leaves
// an existing point unchanged.
func (p *points) write(id int64, data []byte, fault func(string) error) error {
	if p.there[id] {
		return nil
	}
	if len(data) > maxPoint {
		return fmt.Errorf("restart point of %d bytes exceeds the limit of %d", len(data), maxPoint)
	}
	f, err := disk.Recreate(p.path(id), 0o640)
	if isMissing(err) { // the folder was removed: the inputs of its points are decompressed again
		if err = disk.MkdirAll(p.dir, 0o750); err == nil {
			clear(p.there)
			f, err = disk.Recreate(p.path(id), 0o640)
		}
	}
	if err != nil {
		return err
	}
	if err = fault("point"); err == nil {
		_, err = f.Write(append(binary.LittleEndian.AppendUint64(nil, xxh3.Hash(data)), data...))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = disk.Remove(p.path(id))
		return err
	}
	p.there[id], p.dirty = true, true
	return nil
}

// sync makes the names of the written points durable.
func (p *points) sync() error {
	if !p.dirty {
		return nil
	}
	if err := disk.SyncDir(p.dir); err != nil {
		return err
	}
	p.dirty = false
	return nil
}

// errPoint is returned by Point for a damaged file.
var errPoint = errors.New("restart point is damaged")

// NewPoint returns a new id for a restart point. It is positive and differs
// from all ids that are still in use in this data directory.
func (s *Store) NewPoint() int64 {
	return s.points.last.Add(1) // without the lock, because a running commit may wait for the disk
}

// Point returns the restart point with the given id. After an error the caller
// has to start reading from an earlier position.
func (s *Store) Point(id int64) ([]byte, error) {
	f, err := os.Open(s.points.path(id))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxPoint+pointSum+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) < pointSum || len(data) > maxPoint+pointSum, binary.LittleEndian.Uint64(data) != xxh3.Hash(data[pointSum:]):
		return nil, errPoint
	}
	return data[pointSum:], nil
}
