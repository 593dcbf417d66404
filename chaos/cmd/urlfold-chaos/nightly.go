package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

var nightlies = []experiment{{
	name: "nightly", no: "6", about: "runs in mode batch, each over one new file: equal to the file of the run before, longer, or different; the file before is gone, and ext4 gives its inode to the next one; sometimes beside an archive that cannot be read",
	bound: "each file has an output of its own name with all of its records; a refused archive has none, and exit code 4",
	run:   nightly,
}}

func nightly(ctx context.Context, l *lab) error {
	s := &setup{dir: l.dir, exactly: l.rng.IntN(2) == 0, source: quickSource}
	s.defaults()
	if err := os.MkdirAll(l.path("in"), 0o755); err != nil {
		return err
	}
	nights, refused := l.times(12, 200), 0
	text := ""
	for night := range nights {
		switch l.rng.IntN(3) {
		case 0: // the same again
		case 1:
			text += fmt.Sprintf("http://h/more/%d\n", night)
		case 2:
			text = fmt.Sprintf("http://h/first/%d\n", night)
		}
		name, archive := fmt.Sprintf("dump-%03d.log", night), fmt.Sprintf("archive-%03d", night)
		if err := os.WriteFile(l.path("in", name), []byte(text), 0o644); err != nil {
			return err
		}
		code := 0
		if l.rng.IntN(3) == 0 {
			refused, code = refused+1, 4
			if err := os.WriteFile(l.path("in", archive+".zip"), []byte("PK\x03\x04 and no more"), 0o644); err != nil {
				return err
			}
		}
		p, err := s.begin(ctx, l)
		if err != nil {
			return err
		}
		if err := l.ends(ctx, p, code); err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(s.outDir, name))
		l.check(err == nil && string(got) == text, "night %d: %d bytes of %d: %v", night, len(got), len(text), err)
		_, err = os.Stat(filepath.Join(s.outDir, archive))
		l.check(errors.Is(err, fs.ErrNotExist), "night %d: the refused archive has an output", night)
		if err := errors.Join(os.RemoveAll(l.path("in")), os.Mkdir(l.path("in"), 0o755)); err != nil {
			return err
		}
	}
	l.did("%d runs, %d of them with a refused archive", nights, refused)
	return nil
}
