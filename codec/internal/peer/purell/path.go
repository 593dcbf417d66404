package purell

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// removeDirectoryIndex removes a last segment "index" or "default" with an
// extension of one to four word characters.
func (u *parts) removeDirectoryIndex() {
	slash := bytes.LastIndexByte(u.path, '/')
	name, ext, ok := bytes.Cut(u.path[slash+1:], []byte("."))
	if !ok || string(name) != "index" && string(name) != "default" || len(ext) < 1 || len(ext) > 4 {
		return
	}
	for _, c := range ext {
		if !ascii.IsDigit(c) && ('a' > c|0x20 || c|0x20 > 'z') && c != '_' {
			return
		}
	}
	u.path = u.path[:slash+1]
}

// removeDotSegments removes dot segments from the decoded path. A ".." removes
// the preceding segment, even the empty segment before the first slash.
func (n *normalizer) removeDotSegments() {
	u := &n.url
	if len(u.path) == 0 {
		return
	}
	out, count, lastIsDot := n.spare[:0], 0, false
	for rest, more := u.path, true; more; {
		var segment []byte
		segment, rest, more = bytes.Cut(rest, []byte("/"))
		lastIsDot = string(segment) == "." || string(segment) == ".."
		switch {
		case string(segment) == ".." && count > 0:
			count--
			out = out[:max(bytes.LastIndexByte(out, '/'), 0)]
		case !lastIsDot:
			if count > 0 {
				out = append(out, '/')
			}
			out = append(out, segment...)
			count++
		}
	}
	// u.path gets a slash in front if the host needs one.
	u.path = u.path[:0]
	if len(u.host) > 0 && u.host[len(u.host)-1] != '/' && !bytes.HasPrefix(out, []byte("/")) {
		u.path = append(u.path, '/')
	}
	u.path = append(u.path, out...)
	if lastIsDot && !bytes.HasSuffix(u.path, []byte("/")) {
		u.path = append(u.path, '/')
	}
	n.spare = out
}

func (u *parts) removeDuplicateSlashes() {
	kept := u.path[:0]
	for _, c := range u.path {
		if c != '/' || len(kept) == 0 || kept[len(kept)-1] != '/' {
			kept = append(kept, c)
		}
	}
	u.path = kept
}

// removeTrailingSlash removes one slash from the end of the path, or without a
// path from the end of the host, where width folding can have put one.
func (u *parts) removeTrailingSlash() {
	if len(u.path) > 0 {
		u.path = bytes.TrimSuffix(u.path, []byte("/"))
	} else {
		u.host = bytes.TrimSuffix(u.host, []byte("/"))
	}
}
