package urlcanon

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/peer"
)

// SSURT returns a canonicalizer that reproduces ParsedUrl.ssurt: all parts of a
// URL in an order that suits sorting.
func SSURT() peer.Canonicalizer { return new(ssurt) }

type ssurt struct{ url parsed }

// Append implements [peer.Canonicalizer].
func (s *ssurt) Append(dst, src []byte, t peer.Trace) ([]byte, bool) {
	u := &s.url
	u.parse(src)
	start := len(dst)
	dst = append(dst, u.leading...)
	dst = appendReversed(dst, u.host)
	for _, part := range [...][]byte{
		u.slashes, u.port, u.colonPort, u.scheme, u.at, u.username, u.colonPassword, u.password, u.colon,
		u.path, u.questionMark, u.query, u.hash, u.fragment, u.trailing,
	} {
		dst = append(dst, part...)
	}
	t.Step("ssurt", src, dst[start:])
	return dst, true
}

// appendReversed appends the labels of a host in reverse order, each followed
// by a comma, with commas in a label swapped for dots. It does not reverse an
// IP address, except 0.0.0.0 in any notation, because ssurt_host treats the
// number 0 as "no address".
func appendReversed(dst, host []byte) []byte {
	if len(host) == 0 || host[0] == '[' || parseIPv4(host).isNonzero() {
		return append(dst, host...)
	}
	for {
		i := bytes.LastIndexByte(host, '.')
		for _, c := range host[i+1:] {
			if c == ',' {
				c = '.'
			}
			dst = append(dst, c)
		}
		dst = append(dst, ',')
		if i < 0 {
			return dst
		}
		host = host[:i]
	}
}
