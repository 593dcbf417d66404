package file

import (
	"path/filepath"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// A Report is the result of "urlfold check --integrity" for one file. ReportOf
// makes it.
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
	return !r.Unfinished && !r.Leftover && !r.PutAside && !r.Unverified && !r.Verdict.Damage()
}

// ReportOf returns the report on the file called name, which was read as a
// whole with the result v.
func ReportOf(name string, v compress.Verification) Report {
	r := Report{Path: name, Verification: v}
	base, part := strings.CutSuffix(name, partSuffix)
	r.Unfinished = part
	r.Leftover = strings.HasSuffix(name, copySuffix)
	if r.Unverified = strings.HasSuffix(base, unverifiedSuffix); r.Unverified && part {
		r.Unverified, r.Leftover = false, true // the next run writes the output again
	}
	r.PutAside = strings.Contains(filepath.Base(name), damagedSuffix)
	if r.Unfinished || v.Verdict.Damage() && v.Verdict.Format > compress.Plain && v.Verdict.Format < compress.Unsupported {
		r.TornBytes = v.Compressed - v.Good
	}
	return r
}
