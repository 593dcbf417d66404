package codec

// removeDots removes the dot segments of a path that starts with '/', in place
// (RFC 3986 §5.2.4), and returns what is left of it. ".." at the root goes away;
// a "." or ".." at the end leaves the '/' in front of it.
func removeDots(path []byte) []byte {
	i := firstDotSegment(path)
	if i < 0 {
		return path
	}
	return removeDotsFrom(path, i, rawDots)
}

// removeDotsFrom is removeDots for a path whose first dot segment is known: path[i]
// is the '/' in front of it, or in front of a segment before it. dots returns how
// many dots a segment stands for, if it is a dot segment, and else 0.
func removeDotsFrom(path []byte, i int, dots func(seg []byte) int) []byte {
	out := path[:i]
	for i < len(path) {
		end := i + 1
		for end < len(path) && path[end] != '/' {
			end++
		}
		last := end == len(path)
		n := dots(path[i+1 : end])
		if n == 2 {
			out = cutSegment(out)
		}
		switch {
		case n == 0:
			out = append(out, path[i:end]...)
		case last:
			out = append(out, '/')
		}
		i = end
	}
	return out
}

// firstDotSegment returns the offset of the '/' in front of the first dot
// segment, or -1.
func firstDotSegment(path []byte) int {
	for i := 0; i+1 < len(path); i++ {
		if path[i] != '/' || path[i+1] != '.' {
			continue
		}
		rest := path[i+2:]
		if len(rest) > 0 && rest[0] == '.' {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0] == '/' {
			return i
		}
	}
	return -1
}

// cutSegment removes the last segment of out and the '/' in front of it.
func cutSegment(out []byte) []byte {
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] == '/' {
			return out[:i]
		}
	}
	return out[:0]
}

// rawDots returns 1 for ".", 2 for "..", and 0 for any other segment: RFC 3986 knows
// no escaped dots.
func rawDots(seg []byte) int {
	if n := len(seg); n > 0 && n <= 2 && seg[0] == '.' && seg[n-1] == '.' {
		return n
	}
	return 0
}
