package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// A Report is what [Verify] found out about one file.
type Report struct {
	Path string
	// Unfinished says that the file has the name of an output that is being written,
	// or whose writer has died.
	Unfinished bool
	// Leftover says that the file is a copy that was being made when its writer died.
	// Nobody needs it.
	Leftover bool
	// PutAside says that the file is a damaged output as it was found. What was intact
	// at its beginning has gone on under the name that it had.
	PutAside bool
	// Unverified says that the file holds raw records of a damaged input, which no
	// checksum verifies. The verified ones are in the output of the same name.
	Unverified bool
	// TornBytes is how many bytes follow the last complete member or line. The next
	// run cuts them off, if the file is unfinished.
	TornBytes int64
	compress.Verification
}

// Intact reports whether the file is a finished one without damage.
func (r *Report) Intact() bool {
	return !r.Unfinished && !r.Leftover && !r.PutAside && !r.Unverified && r.TornBytes == 0 && r.Verdict.Kind == compress.OK
}

// Verify reads each file that paths name, and all below the folders among them, to
// the end, and calls yield with what it found out, in the order of paths and of
// names. It ends early with the error of ctx, or if yield returns one. A file that
// cannot be read is one with the verdict Unreadable.
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
		r.Unverified, r.Leftover = false, true // the next run makes it again
	}
	r.PutAside = strings.Contains(filepath.Base(name), damagedSuffix)
	r.Verification = compress.Verify(f, compress.Options{Name: base})
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
