package file

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// This file compares names. While no process runs, only a name distinguishes a
// file that rotation has renamed, copied or compressed from another file with
// the same text, such as a second dump.

// rotation matches what rotation appends to a name.
var rotation = regexp.MustCompile(`(\.[0-9]+|[-.][0-9]{4}-?[0-9]{2}-?[0-9]{2}([-T_]?[0-9]{2,6})?|-[0-9]{10})$`)

// rotatedFrom returns the name without the suffix that rotation appended, or
// "" if there is no such suffix.
func rotatedFrom(name string) string {
	if at := rotation.FindStringIndex(name); at != nil {
		return name[:at[0]]
	}
	return ""
}

// derives reports whether rotation can make the path now from the path was: it
// appends a number or a date, increases a number, compresses, or moves the
// result to a folder below.
func derives(now, was string) bool {
	folder, base := filepath.Split(was)
	below, name := filepath.Split(now)
	base, name = uncompressed(base), uncompressed(name)
	if !strings.HasPrefix(below, folder) {
		return false
	}
	if rest, ok := strings.CutPrefix(name, base); ok && (rest == "" && below == folder || rest != "" && rotatedFrom(name) == base) {
		return true
	}
	first, before := cutNumber(base)
	second, after := cutNumber(name)
	packed := compress.Compressed(now) && !compress.Compressed(was) // the inode is the same, so the file may have been renamed several times
	return before > 0 && first == second && (after == before+1 || after > before && packed)
}

// uncompressed returns a name without the extension of a compressed format.
func uncompressed(name string) string {
	if compress.Compressed(name) {
		return strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}

// cutNumber cuts the number off the end of NAME.NUMBER and adds one to it. It
// returns 0 without a number.
func cutNumber(name string) (rest string, n int) {
	i := strings.LastIndexByte(name, '.')
	if n, err := strconv.Atoi(name[i+1:]); err == nil && n >= 0 && i > 0 {
		return name[:i], n + 1
	}
	return name, 0
}

// related reports whether the file at path may belong to t, judging by its
// name. A process that has seen the file of t knows when that file disappeared:
// see outlived.
func (t *track) related(s *fileState) bool {
	return t.sight.watched || s.rel == t.rel || derives(s.path, t.path)
}
