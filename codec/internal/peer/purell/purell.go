// Package purell normalizes URLs as github.com/PuerkitoBio/purell v1.2.1 does,
// byte for byte, including its bugs. The reference is NormalizeURLString with
// the versions of golang.org/x/net (v0.17.0) and golang.org/x/text (v0.13.0)
// that its go.mod requires, compiled with Go 1.26.
//
// Purell parses with net/url. This package contains another parser with the same
// results, for two reasons: net/url changes with the Go release and with the
// variable GODEBUG, so that a normal form could change with the compiler, and it
// allocates for each URL.
package purell

import (
	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/peer"
)

// A level is a set of purell's normalization flags. Each level contains the
// flags of the previous level.
type level uint8

const (
	safe              level = iota // FlagsSafe
	usuallySafeGreedy              // FlagsUsuallySafeGreedy
	allGreedy                      // FlagsAllGreedy
)

// A normalizer normalizes URLs. It keeps its buffers between calls; a goroutine
// needs its own.
type normalizer struct {
	level level

	url    parts
	host   hostBuffers
	spare  []byte  // the path without its dot segments
	fields []field // parameters to sort, as ranges of decoded
	text   []byte  // decoded names and values of these parameters
}

// parts is a URL as net/url splits it. The slices belong to a normalizer or to
// the input.
type parts struct {
	scheme   []byte // in lower case
	opaque   []byte // the text after the scheme, if it does not start with a slash
	user     []byte // encoded as in the output
	hasUser  bool
	rawHost  []byte // decoded, with port
	host     []byte // rawHost in ASCII
	path     []byte // decoded
	query    []byte // raw
	fragment []byte // decoded
	spare    []byte // the host that setAddress writes
}

// NewSafe returns a normalizer with purell.FlagsSafe.
func NewSafe() peer.Canonicalizer { return &normalizer{level: safe} }

// NewUsuallySafeGreedy returns a normalizer with purell.FlagsUsuallySafeGreedy.
func NewUsuallySafeGreedy() peer.Canonicalizer { return &normalizer{level: usuallySafeGreedy} }

// NewAllGreedy returns a normalizer with purell.FlagsAllGreedy.
func NewAllGreedy() peer.Canonicalizer { return &normalizer{level: allGreedy} }

// Append implements peer.Canonicalizer. It returns false where purell returns an
// error.
func (n *normalizer) Append(dst, src []byte, t peer.Trace) ([]byte, bool) {
	u, chain := &n.url, t.From(src)
	if !u.parse(src) {
		return dst, false
	}
	u.host = u.rawHost
	n.report(&chain, "parse")
	var ok bool
	if u.host, ok = n.host.toASCII(u.rawHost); !ok {
		return dst, false
	}
	n.report(&chain, "host-ascii")
	for _, s := range steps {
		if n.level >= s.from {
			s.apply(n)
			n.report(&chain, s.name)
		}
	}
	return u.append(dst), true
}

// report reports the URL as it is after a step.
func (n *normalizer) report(chain *peer.Chain, step string) {
	if chain.Active() {
		chain.Step(step, n.url.append(nil))
	}
}

// steps are purell's normalizations in its order. The steps that lower-case the
// scheme and the host do nothing: parse and toASCII already did it.
var steps = []struct {
	name  string
	from  level // the lowest level with this step
	apply func(*normalizer)
}{
	{"remove-default-port", safe, func(n *normalizer) { n.url.removeDefaultPort() }},
	{"remove-directory-index", allGreedy, func(n *normalizer) { n.url.removeDirectoryIndex() }},
	{"remove-dot-segments", usuallySafeGreedy, (*normalizer).removeDotSegments},
	{"remove-fragment", allGreedy, func(n *normalizer) { n.url.fragment = n.url.fragment[:0] }},
	{"force-http", allGreedy, func(n *normalizer) { n.url.forceHTTP() }},
	{"remove-duplicate-slashes", allGreedy, func(n *normalizer) { n.url.removeDuplicateSlashes() }},
	{"remove-www", allGreedy, func(n *normalizer) { n.url.removeWWW() }},
	{"sort-query", allGreedy, (*normalizer).sortQuery},
	{"decode-host", allGreedy, func(n *normalizer) { n.url.decodeHost() }},
	{"remove-host-dots", allGreedy, func(n *normalizer) { n.url.removeHostDots() }},
	{"remove-empty-port", allGreedy, func(n *normalizer) { n.url.removeEmptyPort() }},
	{"remove-trailing-slash", usuallySafeGreedy, func(n *normalizer) { n.url.removeTrailingSlash() }},
}

// append appends the URL as purell's escapeURL writes it.
func (u *parts) append(dst []byte) []byte {
	if len(u.scheme) > 0 {
		dst = append(append(dst, u.scheme...), ':')
	}
	if len(u.opaque) > 0 {
		dst = append(dst, u.opaque...)
	} else {
		if len(u.scheme) > 0 || len(u.host) > 0 || u.hasUser {
			dst = append(dst, "//"...)
			if u.hasUser {
				dst = append(append(dst, u.user...), '@')
			}
			dst = append(dst, u.host...)
		}
		if len(u.path) > 0 && u.path[0] != '/' && len(u.host) > 0 {
			dst = append(dst, '/')
		}
		dst = ascii.AppendEscaped(dst, u.path, inPath)
	}
	if len(u.query) > 0 {
		dst = append(append(dst, '?'), u.query...)
	}
	if len(u.fragment) > 0 {
		dst = ascii.AppendEscaped(append(dst, '#'), u.fragment, inFragment)
	}
	return dst
}
