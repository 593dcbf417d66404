package crawlercommons

import (
	"bytes"
	"cmp"
	"slices"
)

// A field is a parameter. It does not distinguish a parameter without '=' from
// a parameter with an empty value.
type field struct {
	name, value []byte
	index       int
}

// normalizeFile normalizes the escapes of path and query, and sorts the
// parameters by name. If the path contains escapes of unreserved characters, it
// splits at the wrong position: it looks for the '?' before it decodes the
// escapes. It returns false where that makes Java throw an exception.
func (n *normalizer) normalizeFile(file []byte) ([]byte, bool) {
	mark := bytes.IndexByte(file, '?')
	if mark == len(file)-1 && mark >= 0 {
		file, mark = file[:mark], -1
	}
	n.spare = appendDecoded(n.spare[:0], file)
	if mark < 0 {
		return n.spare, true
	}
	decoded := n.spare
	if mark+1 >= len(decoded) {
		return nil, false
	}
	n.fields = n.fields[:0]
	for raw := range bytes.SplitSeq(decoded[mark+1:], []byte("&")) {
		if name, value, _ := bytes.Cut(raw, []byte("=")); len(name) > 0 {
			n.fields = append(n.fields, field{name, value, len(n.fields)})
		}
	}
	slices.SortFunc(n.fields, func(a, b field) int { return cmp.Or(bytes.Compare(a.name, b.name), a.index-b.index) })
	start := len(decoded)
	out := append(decoded, decoded[:mark]...)
	for i, f := range n.fields {
		out = append(append(out, "?&"[min(i, 1)]), f.name...)
		if len(f.value) > 0 {
			out = append(append(out, '='), f.value...)
		}
	}
	n.spare = out
	return out[start:], true
}

// normalizePath returns path and query of a URI, with its path normalized. It
// returns false if the grammar of URI does not accept text, or text is opaque.
func (n *normalizer) normalizePath(text []byte) ([]byte, bool) {
	u, ok := parseURI(text)
	if !ok || u.opaque {
		return nil, false
	}
	start := len(n.spare)
	path := u.path
	if hasDots(path) {
		n.spare = n.appendNormal(n.spare, path)
		path = n.spare[start:]
		path = path[leadingDots(path):]
	}
	start = len(n.spare)
	n.spare = append(n.spare, path...)
	if len(path) == 0 {
		n.spare = append(n.spare, '/')
	}
	if u.hasQuery {
		n.spare = append(append(n.spare, '?'), u.query...)
	}
	return n.spare[start:], true
}

// hasDots reports whether path contains what matches "/[./]|[.]/".
func hasDots(path []byte) bool {
	for i := 1; i < len(path); i++ {
		a, b := path[i-1], path[i]
		if a == '/' && (b == '.' || b == '/') || a == '.' && b == '/' {
			return true
		}
	}
	return false
}

// leadingDots returns the length of the ".." segments at the start of path.
// Each time, Java examines only the fourth character, so a name that starts
// with two dots after a ".." segment loses these dots.
func leadingDots(path []byte) (n int) {
	for bytes.HasPrefix(path[n:], []byte("/..")) && (n+3 == len(path) || path[3] == '/') {
		n += 3
	}
	return n
}

// appendNormal appends path as URI.normalize returns it: without empty segments
// and "." segments, and without segments that a ".." follows. A ".." that has
// nothing to remove stays.
func (n *normalizer) appendNormal(dst, path []byte) []byte {
	relative := path[0] != '/'
	if !relative {
		dst = append(dst, '/')
	}
	n.starts = n.starts[:0] // the starts of the segments in dst
	removed := false        // a segment before the first remaining segment was removed
	for i := 0; i < len(path); {
		if path[i] == '/' {
			i++
			continue
		}
		end := i
		for end < len(path) && path[end] != '/' {
			end++
		}
		segment := path[i:end]
		last := len(n.starts) - 1
		switch {
		case string(segment) == ".":
			removed = removed || last < 0
		case string(segment) == ".." && last >= 0 && string(dst[n.starts[last]:]) != "../":
			dst, n.starts = dst[:n.starts[last]], n.starts[:last]
			removed = removed || last == 0
		default:
			if relative && removed && last < 0 && bytes.IndexByte(segment, ':') >= 0 {
				dst = append(dst, "./"...) // maybeAddLeadingDot
			}
			n.starts = append(n.starts, len(dst))
			dst = append(dst, segment...)
			if end < len(path) {
				dst = append(dst, '/')
			}
		}
		i = end
	}
	return dst
}
