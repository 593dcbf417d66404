package codec

import "bytes"

// parseCleanByLoops is parseClean without a survey: making a survey pays only
// where the processor has vectors. If parseCleanByLoops gives up, u gets no
// path, query or fragment.
func parseCleanByLoops(src []byte, u *URL) (entity int, ok bool) {
	start := cleanScheme(src)
	if start == 0 || len(src) > keepBytes {
		return -1, false
	}
	i, odd := cleanLabels(src, start)
	if odd || i >= 64 || !u.setFront(src, start, i) {
		return -1, false
	}
	switch {
	case i == len(src) || src[i] == '?' || src[i] == '#':
		return -1, false
	case src[i] == ':':
		path, byDefault := u.setPort(src, i+1)
		if path == 0 {
			return -1, false
		}
		entity, ok = cleanRest(src, path, u)
		return entity, ok && !byDefault
	case src[i] != '/':
		return -1, false
	}
	return cleanRest(src, i, u)
}

// cleanLabels returns the end of the clean bytes of a host that begins at i. odd
// reports whether a '.' or a '-' is at either end of the host, or next to another '.'
// or '-'.
func cleanLabels(src []byte, i int) (end int, odd bool) {
	// bad gets pauseByte for consecutive '.' and '-', and for a '.' or '-' at
	// the start.
	last, bad := uint16(pauseByte), uint16(0)
	for i < len(src) {
		c := class[src[i]]
		if c&cleanHost == 0 {
			break
		}
		bad |= last & c
		last = c
		i++
	}
	return i, (bad|last)&pauseByte != 0
}

// cleanRest parses path, query and fragment; the path begins at i. Its loops go
// on after most bytes with i+1, not with i plus a computed length, so the
// processor need not wait for the length.
func cleanRest(src []byte, i int, u *URL) (entity int, ok bool) {
	path, entity := Span{Start: uint32(i)}, -1
	for i < len(src) && src[i] != '?' && src[i] != '#' {
		if class[src[i]]&cleanPath != 0 {
			i++
			continue
		}
		n := cleanInPath(src, i)
		if n == 0 {
			return -1, false
		}
		i += n
	}
	path.End = uint32(i)
	query := path
	if i < len(src) && src[i] == '?' {
		i++
		query.Start = uint32(i)
		for i < len(src) && src[i] != '#' {
			if class[src[i]]&cleanQuery != 0 {
				i++
				continue
			}
			n := cleanInQuery(src, i)
			if n == 0 {
				return entity, false
			}
			if src[i] == ';' && entity < 0 && bytes.HasSuffix(src[:i+1], htmlAmp) {
				entity = i + 1 - len(htmlAmp)
			}
			i += n
		}
		query.End = uint32(i)
	}
	if i < len(src) {
		start := i + 1
		for i++; i < len(src); {
			if class[src[i]]&cleanFrag != 0 {
				i++
				continue
			}
			n := cleanInFragment(src, i)
			if n == 0 {
				return entity, false
			}
			i += n
		}
		u.set(Fragment, start, i)
	}
	u.set(Path, int(path.Start), int(path.End))
	if query != path {
		u.set(Query, int(query.Start), int(query.End))
	}
	return entity, true
}
