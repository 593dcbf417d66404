package w3lib

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/idna2003"
	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

// A splitResult holds the components of _SplitResult that the result depends
// on.
type splitResult struct {
	scheme, path, query           []byte
	username, password, hostname  []byte
	port                          uint16
	hasUser, hasPassword, hasPort bool
}

// splitURL splits text as _urlsplit does. It changes text, and keeps slices of
// it and of hosts. It returns false if the program raises an error.
func splitURL(text []byte, hosts *[]byte) (u splitResult, ok bool) {
	if n := ascii.SchemeEnd(text); n > 0 {
		u.scheme, text = text[:n], text[n+1:]
		ascii.LowerInPlace(u.scheme)
	}
	if isSpecial(u.scheme) {
		end := bytes.IndexAny(text, "?#")
		if end < 0 {
			end = len(text)
		}
		ascii.Replace(text[:end], '\\', '/')
	}
	var netloc []byte
	bracket := bytes.IndexByte(text, '[') >= 0
	if bytes.HasPrefix(text, []byte("//")) {
		end := 2
		for end < len(text) && text[end] != '/' && text[end] != '?' && text[end] != '#' {
			end++
		}
		netloc, text = text[2:end], text[end:]
		bracket = bytes.IndexByte(netloc, '[') >= 0
		if bracket != (bytes.IndexByte(netloc, ']') >= 0) || bracket && !checkBrackets(netloc) || !checkNFKC(netloc) {
			return u, false
		}
	}
	if i := bytes.IndexByte(text, '#'); i >= 0 {
		text = text[:i]
	}
	u.path, u.query, _ = bytes.Cut(text, []byte{'?'})
	return u, u.splitNetloc(netloc, bracket, hosts)
}

// splitNetloc sets userinfo, host and port.
func (u *splitResult) splitNetloc(netloc []byte, bracket bool, hosts *[]byte) bool {
	if at := bytes.LastIndexByte(netloc, '@'); at >= 0 {
		u.hasUser = true
		u.username, u.password, u.hasPassword = bytes.Cut(netloc[:at], colon)
		netloc = netloc[at+1:]
	}
	var port []byte
	if bracket {
		_, inside, _ := bytes.Cut(netloc, []byte{'['})
		u.hostname, port, _ = bytes.Cut(inside, []byte{']'})
		_, port, _ = bytes.Cut(port, colon)
	} else {
		u.hostname, port, _ = bytes.Cut(netloc, colon)
	}
	name, zone, zoned := bytes.Cut(u.hostname, []byte{'%'})
	lower := python.AppendLower((*hosts)[:0], name)
	if zoned {
		lower = append(append(lower, '%'), zone...)
	}
	u.hostname, *hosts = lower, lower
	if u.hasPort = len(port) > 0; !u.hasPort {
		return true
	}
	n := 0
	for _, c := range port {
		if !ascii.IsDigit(c) || len(port) > 4300 {
			return false
		}
		n = min(n*10+int(c-'0'), 1<<16)
	}
	u.port = uint16(n)
	return n < 1<<16
}

var colon = []byte{':'}

// checkBrackets reports whether _check_bracketed_netloc accepts the netloc.
func checkBrackets(netloc []byte) bool {
	netloc = netloc[bytes.LastIndexByte(netloc, '@')+1:]
	before, bracketed, open := bytes.Cut(netloc, []byte{'['})
	host, _, _ := bytes.Cut(netloc, colon)
	if open {
		var port []byte
		host, port, _ = bytes.Cut(bracketed, []byte{']'})
		if len(before) > 0 || len(port) > 0 && port[0] != ':' {
			return false
		}
	}
	if len(host) > 0 && host[0]|0x20 == 'v' {
		return isIPvFuture(host)
	}
	_, ok := python.ParseIPv6(host)
	return ok
}

// isIPvFuture reports whether text matches v[a-fA-F0-9]+\..+ as a whole.
func isIPvFuture(text []byte) bool {
	i := 1
	for i < len(text) && ascii.IsHex(text[i]) {
		i++
	}
	return text[0] == 'v' && i > 1 && i+1 < len(text) && text[i] == '.'
}

// checkNFKC reports whether NFKC makes no delimiter out of another character.
func checkNFKC(netloc []byte) bool {
	if ascii.Only(netloc) {
		return true
	}
	text := stripped(netloc)
	normal := idna2003.AppendNFKC(nil, text)
	return slices.Equal(text, normal) || !slices.ContainsFunc(normal, func(r rune) bool {
		return r == '/' || r == '?' || r == '#' || r == '@' || r == ':' || r == '\\'
	})
}

// stripped returns text without "@:#?".
func stripped(text []byte) []rune {
	var out []rune
	for _, r := range string(text) {
		if r != '@' && r != ':' && r != '#' && r != '?' {
			out = append(out, r)
		}
	}
	return out
}

func isSpecial(scheme []byte) bool {
	switch string(scheme) {
	case "ftp", "file", "http", "https", "ws", "wss":
		return true
	}
	return false
}

// usesParams and usesNetloc report whether a scheme is in the lists of
// urllib.parse.
func usesParams(scheme []byte) bool {
	switch string(scheme) {
	case "", "ftp", "hdl", "prospero", "http", "imap", "https", "shttp", "rtsp", "rtsps", "rtspu", "sip", "sips", "mms", "sftp", "tel":
		return true
	}
	return false
}

func usesNetloc(scheme []byte) bool {
	switch string(scheme) {
	case "ftp", "http", "gopher", "nntp", "telnet", "imap", "wais", "file", "mms", "https", "shttp", "snews", "prospero",
		"rtsp", "rtsps", "rtspu", "rsync", "svn", "svn+ssh", "sftp", "nfs", "git", "git+ssh", "ws", "wss":
		return true
	}
	return false
}
