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
	maxPoint   = 1 << 20 // bytes of a restart point
	pointSum   = 8       // bytes of the checksum in front of it
)

// points are the restart points on disk. An id is never used twice while there
// may be a file of it.
type points struct {
	dir  string
	last *atomic.Int64

	there map[int64]bool
	stale []int64 // that the last commit does not name, and the one before did
	dirty bool    // names were added since the folder was synced
}

// openPoints looks which points there are.
func openPoints(dir string) points {
	p := points{dir: dir, there: map[int64]bool{}, last: new(atomic.Int64)}
	names, _ := os.ReadDir(dir) // those that cannot be listed are never removed, and written over
	for _, d := range names {
		if id, err := strconv.ParseInt(d.Name(), 10, 64); err == nil && id > 0 {
			p.there[id] = true
			p.last.Store(max(p.last.Load(), id))
		}
	}
	return p
}

func (p *points) path(id int64) string { return filepath.Join(p.dir, strconv.FormatInt(id, 10)) }

// write makes a point durable, but for its name. A point that is there already
// stays as it is.
func (p *points) write(id int64, data []byte, fault func(string) error) error {
	if p.there[id] {
		return nil
	}
	if len(data) > maxPoint {
		return fmt.Errorf("a restart point of %d bytes is too long", len(data))
	}
	f, err := disk.Recreate(p.path(id), 0o640)
	if isMissing(err) { // somebody has removed the folder: what was in it is decompressed again
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

// sync makes the names of what was written durable.
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

// orphan notes the points that no entry names: the next commit removes them.
func (p *points) orphan(named map[int64]bool) {
	for id := range p.there {
		if !named[id] {
			p.stale = append(p.stale, id)
		}
	}
}

// drop notes the points that the last commit does not name any more, and removes
// those that the one before it did not name: if the last commit is damaged, the
// one before it is used. A point that cannot be removed is left to the next
// process.
func (p *points) drop(ids []int64) {
	for _, id := range p.stale {
		_ = disk.Remove(p.path(id))
		delete(p.there, id)
	}
	p.stale = ids
}

// errPoint wraps the errors of Point for what is there and is none.
var errPoint = errors.New("the restart point is damaged")

// NewPoint returns an id for a restart point. It is positive, and differs from
// all others of this data directory that are still in use.
func (s *Store) NewPoint() int64 {
	return s.points.last.Add(1) // it takes no lock: a commit under way may wait for the disk
}

// Point returns the restart point with that id. An error means that reading has
// to begin further back.
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
