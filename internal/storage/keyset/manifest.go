package keyset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A manifest is the JSON document that names the runs of a Store.
type manifest struct {
	Version  int       `json:"version"`
	Identity Identity  `json:"identity"`
	Keys     int64     `json:"keys"` // number of distinct keys; a key can be in several runs
	Runs     []RunInfo `json:"runs"` // the oldest first
	Check    uint64    `json:"check,string"`
}

const (
	manifestVersion = 1
	manifestName    = "manifest.json"
	partSuffix      = ".part"
)

// sum returns the checksum of the other fields.
func (m manifest) sum() (uint64, error) {
	m.Check = 0
	text, err := json.Marshal(&m)
	return xxh3.Hash(text), err
}

// write makes m the manifest in dir, in one step. fault names the points at which
// a test can make it fail.
func (m manifest) write(dir string, fault func(point string) error) error {
	var err error
	if m.Check, err = m.sum(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(&m, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(dir, manifestName)
	f, err := disk.Recreate(name+partSuffix, 0o640)
	if err != nil {
		return err
	}
	if err = fault("keyset.manifest_write"); err == nil {
		_, err = f.Write(append(text, '\n'))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, errors.Join(err, disk.Remove(name+partSuffix)))
	}
	if err := fault("keyset.manifest_publish"); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := disk.Publish(name+partSuffix, name); err != nil {
		return err
	}
	if err := fault("keyset.manifest_published"); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readManifest reads the manifest in dir. The error matches ErrNoStore if dir
// contains none.
func readManifest(dir string) (m manifest, err error) {
	name := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return m, fmt.Errorf("%s: %w (no %s)", dir, ErrNoStore, manifestName)
	}
	if err != nil {
		return m, err
	}
	var v struct{ Version int }
	if json.Unmarshal(text, &v) != nil || v.Version <= manifestVersion {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields() // a damaged name is an unknown field
		if err := d.Decode(&m); err != nil {
			return manifest{}, fmt.Errorf("%s: %w: %w", name, errDamaged, err)
		}
	}
	sum, err := m.sum()
	switch {
	case err != nil:
		return manifest{}, err
	case v.Version > manifestVersion:
		return manifest{}, fmt.Errorf("%s: version %d, but this program supports only up to version %d", name, v.Version, manifestVersion)
	case sum != m.Check:
		return manifest{}, fmt.Errorf("%s: %w: wrong checksum", name, errDamaged)
	}
	return m, nil
}
