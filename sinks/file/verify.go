package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// A Report is the result of [Verify] for one file.
type Report struct {
	Path string
	// Unfinished reports that the file has the name of an output that is still
	// being written, or whose writer has died.
	Unfinished bool
	// Leftover reports that the file is an incomplete copy, left by a writer
	// that died. It can be removed.
	Leftover bool
	// PutAside reports that the file is a damaged output that was set aside.
	// Its intact beginning was continued under the original name.
	PutAside bool
	// Unverified reports that the file holds raw records of a damaged input
	// that no checksum verifies. The verified records are in the output of the
	// same name.
	Unverified bool
	// TornBytes is the number of bytes after the last complete member or line.
	// If the file is unfinished, the next run truncates them.
	TornBytes int64
	compress.Verification
}

// Intact reports whether the file is finished and undamaged.
func (r *Report) Intact() bool {
	return !r.Unfinished && !r.Leftover && !r.PutAside && !r.Unverified && r.TornBytes == 0 && r.Verdict.Kind == compress.OK
}

// Verify reads all files in paths, and in the directories among them, to the
// end. It calls yield with the result for each file, in the order of paths and
// of file names. It stops early with the error of ctx or of yield. A file that
// cannot be read has the verdict Unreadable.
func Verify(ctx context.Context, paths []string, yield func(Report) error) error {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				return yield(unreadable(name, err))
			case d.IsDir() || name != path && !d.Type().IsRegular():
				return nil
			}
			return yield(verify(name))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// maxAhead is the maximum number of goroutines that inflate a file.
const maxAhead = 8

func verify(name string) Report {
	f, err := os.Open(name)
	if err != nil {
		return unreadable(name, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	r := Report{Path: name}
	base, part := strings.CutSuffix(name, partSuffix)
	r.Unfinished = part
	r.Leftover = strings.HasSuffix(name, copySuffix)
	if r.Unverified = strings.HasSuffix(base, unverifiedSuffix); r.Unverified && part {
		r.Unverified, r.Leftover = false, true // the next run writes it again
	}
	r.PutAside = strings.Contains(filepath.Base(name), damagedSuffix)
	r.Verification = compress.Verify(f, compress.Options{Name: base, Ahead: min(runtime.GOMAXPROCS(0), maxAhead)})
	if r.Unfinished || r.Verdict.Format != compress.Plain {
		r.TornBytes = r.Compressed - r.Good
	}
	return r
}

func unreadable(name string, err error) Report {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	r := Report{Path: name}
	r.Verdict = compress.Verdict{Kind: compress.Unreadable, Detail: fmt.Sprint(err)}
	return r
}
