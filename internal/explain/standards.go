package explain

import "github.com/urlfold/urlfold/codec"

// This file parses a URL by both standards, RFC 3986 and that of browsers,
// whatever the profile.

// One normalizer of each standard.
var (
	rfcNormalizer     = mustNormalizer("rfc3986-scheme")
	browserNormalizer = mustNormalizer("whatwg")
)

func mustNormalizer(name string) *codec.Normalizer {
	p, _ := codec.Lookup(name)
	n, err := codec.New(p)
	if err != nil {
		panic("BUG: the profile " + name + " does not exist") // every test would see it
	}
	return n
}

// A standing is what a standard makes of a URL.
type standing string

// The standings, as they appear in output.
const (
	valid   standing = "valid"
	invalid standing = "invalid" // it can be parsed, but holds what the standard does not allow
	failure standing = "failure" // it cannot be parsed
)

// A view is what one standard sees in a URL.
type view struct {
	standing standing
	faults   codec.Flags // why it is not valid
	err      error       // why it cannot be parsed
	raw      string      // a text with the components as the standard sees them
	k0, k1   string      // what it means by RFC 3986, to compare with the other view
}

// rfcView returns what RFC 3986 sees in src.
func (x *Explainer) rfcView(src []byte) view {
	var r codec.Result
	v := view{raw: string(src)}
	if v.err = codec.Parse(src, &r); v.err == nil {
		v.faults = r.Flags.Intersect(codec.Violation.Flags())
		v.compare(x.base, src)
	}
	if len(x.base) > 0 {
		v.raw = v.k1 // the reference alone has no host to compare
	}
	return v
}

// browserView returns what browsers see in src.
func (x *Explainer) browserView(src []byte) view {
	var r codec.Result
	href, err := browserNormalizer.AppendRef(nil, x.base, src, &r)
	v := view{raw: string(href), err: err}
	if err == nil {
		v.faults = r.Flags.Intersect(codec.ValidationError.Flags())
		v.compare(nil, href)
	}
	return v
}

// compare finds the keys of url, which is how the standard sees it.
func (v *view) compare(base, url []byte) {
	var r codec.Result
	norm, err := rfcNormalizer.AppendRef(nil, base, url, &r)
	if v.err = err; err != nil {
		return
	}
	v.k0 = string(r.AppendKey(nil, codec.K0))
	v.k1 = string(norm)
}

// rate sets the standing.
func (v view) rate() view {
	switch {
	case v.err != nil:
		v.standing = failure
	case !v.faults.IsZero():
		v.standing = invalid
	default:
		v.standing = valid
	}
	return v
}

// inViews returns the components in apart as each standard sees them.
func (e *Explanation) inViews(apart []difference) []difference {
	var ra, rb codec.Result
	a, b := e.rfc.raw, e.whatwg.raw
	_ = codec.Parse([]byte(a), &ra) // both can be parsed
	_ = codec.Parse([]byte(b), &rb)
	var out []difference
	for _, d := range apart {
		for c := range codec.Fragment + 1 {
			if c.String() == d.component {
				out = append(out, difference{d.component, componentText(a, &ra.In, c), componentText(b, &rb.In, c)})
			}
		}
	}
	return out
}

// hostOf returns the host of a URL, or that there is none.
func hostOf(url string) string {
	var r codec.Result
	_ = codec.Parse([]byte(url), &r) // it can be parsed
	if r.In.Span(codec.Host).Len() == 0 {
		return "no host"
	}
	return string(r.In.Bytes([]byte(url), codec.Host))
}
