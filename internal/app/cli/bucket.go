package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
	sink "github.com/urlfold/urlfold/sinks/file"
)

// This file reads and writes objects of a store, which paths of the form
// s3://BUCKET/KEY name.

// A bucketStore is the store of --s3. It is made when the first path needs it, and
// shared by all settings of a process.
type bucketStore struct {
	once  sync.Once
	store *objects.Store
	err   error
}

// get returns the store.
func (b *bucketStore) get(settings string) (*objects.Store, error) {
	b.once.Do(func() {
		parsed, err := s3.Parse(settings, os.Getenv)
		if err != nil {
			b.err = err
			return
		}
		client, err := s3.New(parsed)
		if err != nil {
			b.err = err
			return
		}
		b.store = objects.NewStore(client)
	})
	return b.store, b.err
}

// resolveObjects finds the store if a path names objects.
func (s *settings) resolveObjects(bad *command.Mistakes) {
	if !slices.ContainsFunc(append([]string{s.Output, s.OutputDir, s.Rejects, s.Report}, s.paths...), objects.Is) {
		if s.S3 != "" {
			_, err := s3.Parse(s.S3, os.Getenv)
			bad.Add("--s3", err)
		}
		return
	}
	bad.Add("--s3", s.useObjects())
	input := slices.ContainsFunc(s.paths, objects.Is)
	for _, c := range []struct {
		flag  string
		wrong bool
		text  string
	}{
		{"--in-place", s.InPlace && input, "cannot replace objects: use --output-dir s3://BUCKET/PREFIX"},
		{"--preserve", s.Preserve, "objects have no mode and no owner, and the store sets their times"},
		{"--index", s.Index != "" && s.Index != "auto" && input, "an index belongs to a file, not to an object"},
		{"--resume", s.Resume && objects.Is(s.OutputDir), "not possible with objects as outputs"},
	} {
		if c.wrong {
			bad.Add(c.flag, errors.New(c.text))
		}
	}
}

// useObjects sets s.objects.
func (s *settings) useObjects() (err error) {
	s.objects, err = s.buckets.get(s.S3)
	s.tables.objects = s.objects
	return err
}

// logTo makes the run and the store, if there is one, log to w.
func (s *settings) logTo(w io.Writer) {
	s.log = newLogger(w, s.logLevel)
	if s.objects != nil {
		s.objects.Log = s.log
	}
}

// checkObject returns an error if it is already known that the object at path
// cannot be written.
func (s *settings) checkObject(flag, path string) error {
	if slices.Contains(s.paths, path) {
		return fmt.Errorf("%s: %w", path, sink.ErrIsInput)
	}
	if _, key := objects.Split(path); key == "" || strings.HasSuffix(key, "/") {
		return fmt.Errorf("%s: must be s3://BUCKET/KEY", path)
	}
	if err := s.useObjects(); err != nil {
		return err
	}
	switch _, err := s.objects.Head(context.Background(), path); {
	case objects.KindOf(err) == objects.NotFound:
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case s.Force || flag == "--summary":
		return nil
	}
	return fmt.Errorf("%s: %w; use --force to overwrite it", path, sink.ErrExists)
}

// outputPath returns the path of the output called rel below --output-dir.
func (s *settings) outputPath(rel string) string {
	if objects.Is(s.OutputDir) {
		return strings.TrimSuffix(s.OutputDir, "/") + "/" + filepath.ToSlash(rel)
	}
	return filepath.Join(s.OutputDir, rel)
}
