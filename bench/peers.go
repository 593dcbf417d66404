package bench

import (
	"net/url"

	"github.com/PuerkitoBio/purell"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// A Peer is a library that does one job for many URLs.
type Peer struct {
	Name string
	// Run does the job once for every URL of the set. It returns the sum of the
	// lengths of the results, so that the compiler cannot remove the work, and
	// the number of rejected URLs, because an early error is fast.
	Run func(s *Set) (length, refused int)
	// One does the job for one URL. A test uses it to check the job.
	One func(src string) (string, error)
}

// overStrings makes a Peer from a function on strings.
func overStrings(name string, one func(string) (string, error)) Peer {
	return Peer{Name: name, One: one, Run: func(s *Set) (length, refused int) {
		for _, src := range s.Strings {
			out, err := one(src)
			if err != nil {
				refused++
			}
			length += len(out)
		}
		return length, refused
	}}
}

// Baseline is the peer that the others are compared with.
const Baseline = "net/url Parse"

// Peers returns all peers, the baseline first.
func Peers() []Peer {
	peers := []Peer{
		overStrings(Baseline, netURLParse),
		overStrings("net/url Parse+Resolve+String", netURLNormalize),
		overStrings("purell UsuallySafeGreedy", purellNormalize),
		overStrings("nlnwa/whatwg-url Parse+Href", whatwgHref),
	}
	return append(peers, ours()...)
}

func netURLParse(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	return u.Path, nil
}

var emptyBase = &url.URL{}

// netURLNormalize is the minimum that net/url needs for a normal form:
// resolving removes the dot segments.
func netURLNormalize(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	return emptyBase.ResolveReference(u).String(), nil
}

func purellNormalize(s string) (string, error) {
	return purell.NormalizeURLString(s, purell.FlagsUsuallySafeGreedy)
}

func whatwgHref(s string) (string, error) {
	u, err := whatwg.Parse(s)
	if err != nil {
		return "", err
	}
	return u.Href(false), nil
}
