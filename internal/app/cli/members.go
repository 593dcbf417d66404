package cli

import (
	"fmt"
	"io"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/sources/file"
)

// maxMembers is the number of members of an archive that check lists.
const maxMembers = 10_000

// A member is a file in an archive, as check lists it.
type member struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	Format  string `json:"format,omitempty"` // format of its records; empty: unknown
	Verdict string `json:"verdict"`
}

// members lists the members of the archive at path, and reads each to its end. The list is
// empty if the file is no archive.
func (s *settings) members(path string) (list []member) {
	limits := compress.Limits{MaxRatio: s.MaxRatio, MaxBytes: int64(s.MaxDecompressed), MaxWindow: int64(s.MaxWindow)}
	err := file.Members(path, s.Limits, func(m file.Member, text io.Reader) bool {
		if len(list) == maxMembers {
			list = append(list, member{Verdict: fmt.Sprintf("more than %d members: the others are not listed", maxMembers)})
			return false
		}
		r := member{Path: m.Name, Size: m.Size}
		if m.Err != nil {
			r.Verdict = m.Err.Error()
		} else {
			zr := compress.NewReader(text, compress.Options{Limits: limits, Name: m.Name})
			head := make([]byte, peekBytes)
			n, _ := io.ReadFull(zr, head)  // the verdict contains the error
			_, _ = io.Copy(io.Discard, zr) // the verdict contains this error, too
			if found, ok := detectFormat(head[:n], s.record); ok {
				r.Format = found.Format
			}
			r.Verdict = zr.Verdict().String()
			zr.Close()
		}
		list = append(list, r)
		return true
	})
	if err != nil && list != nil {
		list = append(list, member{Verdict: err.Error()})
	}
	return list
}
