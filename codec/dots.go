package codec

// removeDots removes the dot segments of a path that starts with '/', in place
// (RFC 3986 §5.2.4), and returns the shortened path. ".." at the root is
// removed; a final "." or ".." leaves the preceding '/'.
func removeDots(path []byte) []byte {
	i := firstDotSegment(path)
	if i < 0 {
		return path
	}
	out := path[:i]
	for i < len(path) {
		end := i + 1
		for end < len(path) && path[end] != '/' {
			end++
		}
		last := end == len(path)
		switch seg := path[i+1 : end]; {
		case isDot(seg):
			if last {
				out = append(out, '/')
			}
		case isDotDot(seg):
			out = cutSegment(out)
			if last {
				out = append(out, '/')
			}
		default:
			out = append(out, path[i:end]...)
		}
		i = end
	}
	return out
}

// firstDotSegment returns the offset of the '/' before the first dot segment,
// or -1.
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

// cutSegment removes the last segment of out and the preceding '/'.
func cutSegment(out []byte) []byte {
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] == '/' {
			return out[:i]
		}
	}
	return out[:0]
}

func isDot(seg []byte) bool    { return len(seg) == 1 && seg[0] == '.' }
func isDotDot(seg []byte) bool { return len(seg) == 2 && seg[0] == '.' && seg[1] == '.' }
