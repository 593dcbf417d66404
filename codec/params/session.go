package params

import "bytes"

// session says what a parameter means for sessions.
type session uint8

const (
	noSession session = iota
	isSession         // a session ID
	isCFID            // ColdFusion: a session ID together with isCFToken
	isCFToken
)

// sessionOf classifies a field by its form-decoded name and value (rule qsid):
//
//	jsessionid, phpsessid        with any value, because these names have no other use
//	aspsessionidXXXXXXXX         the same; X is any letter
//	sessionid, session_id, sid   only if the value is a token, because conference
//	                             talks and shops have numbers with these names
//	cfid, cftoken                only together
//
// Names are compared without regard to ASCII case.
func sessionOf(name, value []byte) session {
	ok := false
	switch len(name) {
	case 3:
		ok = equalFold(name, "sid") && shapeToken.matches(value)
	case 4:
		if equalFold(name, "cfid") {
			return isCFID
		}
	case 7:
		if equalFold(name, "cftoken") {
			return isCFToken
		}
	case 9:
		ok = equalFold(name, "phpsessid") || equalFold(name, "sessionid") && shapeToken.matches(value)
	case 10:
		ok = equalFold(name, "jsessionid") || equalFold(name, "session_id") && shapeToken.matches(value)
	case 20:
		ok = hasPrefixFold(name, "aspsessionid") && allOf(name[12:], kindUpper|kindLower)
	}
	if ok {
		return isSession
	}
	return noSession
}

// CutPathSession appends path to dst without the session IDs in it (rule psid),
// and reports whether there were any:
//
//	;jsessionid=V  ;phpsessid=V        in any segment; V is the text up to the
//	                                   next ';' or '/'
//	;sid=V                             if V is a token
//	;cfid=V  ;cftoken=V                if the segment has both
//	/(V)/  /(S(V))/  /(A(V)S(V)...)/   a segment before one that ends in ".aspx";
//	                                   each V is 24 letters and digits
//
// All comparisons ignore ASCII case. path must be percent-normalized and have
// no dot segments. Without an authority, the result may begin with "//".
// CutPathSession is idempotent. It does not modify or retain path.
// Not covered by the stability page.
func CutPathSession(dst, path []byte) (out []byte, changed bool) {
	if !MayHavePathSession(path) {
		return append(dst, path...), false
	}
	start := len(dst)
	aspx := lastASPX(path)
	for at := 0; at < len(path); {
		end := len(path)
		if i := bytes.IndexByte(path[at+1:], '/'); i >= 0 {
			end = at + 1 + i
		}
		mark := len(dst)
		dst = appendSegment(dst, path[at:end])
		if at < aspx && isASPSession(dst[mark:]) {
			dst = dst[:mark]
		}
		at = end
	}
	return dst, len(dst)-start != len(path)
}

// MayHavePathSession reports whether path has a ';' or '('. If not,
// CutPathSession has nothing to remove; most paths have neither.
// Not covered by the stability page.
func MayHavePathSession(path []byte) bool {
	return bytes.IndexByte(path, ';') >= 0 || bytes.IndexByte(path, '(') >= 0
}

// lastASPX returns the offset of the last segment that ends in ".aspx",
// ignoring path parameters, or -1.
func lastASPX(path []byte) int {
	for end := len(path); end > 0; {
		start := max(bytes.LastIndexByte(path[:end], '/'), 0)
		name, _, _ := bytes.Cut(path[start:end], []byte(";"))
		if len(name) >= 5 && equalFold(name[len(name)-5:], ".aspx") {
			return start
		}
		end = start
	}
	return -1
}

// appendSegment appends a segment, including the preceding '/', without session
// parameters.
func appendSegment(dst, segment []byte) []byte {
	i := bytes.IndexByte(segment, ';')
	if i < 0 {
		return append(dst, segment...)
	}
	id, token := false, false
	for p := range paramsOf(segment[i:]) {
		kind := pathSession(p)
		id = id || kind == isCFID
		token = token || kind == isCFToken
	}
	dst = append(dst, segment[:i]...)
	for p := range paramsOf(segment[i:]) {
		if kind := pathSession(p); kind == noSession || kind != isSession && !(id && token) {
			dst = append(dst, p...)
		}
	}
	return dst
}

// paramsOf yields the parameters of a segment, each with its ';'.
func paramsOf(b []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			end := 1
			for end < len(b) && b[end] != ';' {
				end++
			}
			if !yield(b[:end]) {
				return
			}
			b = b[end:]
		}
	}
}

// pathSession classifies a path parameter, including its ';'.
func pathSession(param []byte) session {
	name, value, eq := bytes.Cut(param[1:], []byte("="))
	if !eq {
		return noSession
	}
	switch len(name) {
	case 3, 4, 7:
		return sessionOf(name, value)
	case 9:
		if equalFold(name, "phpsessid") {
			return isSession
		}
	case 10:
		if equalFold(name, "jsessionid") {
			return isSession
		}
	}
	return noSession
}

// isASPSession reports whether a segment, including its '/', is a session ID of
// ASP.NET: /(V), /(S(V)), /(A(V)S(V)) and so on.
func isASPSession(segment []byte) bool {
	if len(segment) < 4 || segment[0] != '/' || segment[1] != '(' || segment[len(segment)-1] != ')' {
		return false
	}
	inner := segment[2 : len(segment)-1]
	if len(inner) == 24 {
		return allOf(inner, kindAlnum)
	}
	const each = len("S()") + 24
	for n := len(inner); n > 0; n -= each {
		if n < each || kinds[inner[0]]&(kindUpper|kindLower) == 0 || inner[1] != '(' || inner[each-1] != ')' || !allOf(inner[2:each-1], kindAlnum) {
			return false
		}
		inner = inner[each:]
	}
	return len(segment) > 4
}
