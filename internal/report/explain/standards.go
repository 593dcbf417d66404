package explain

import "github.com/urlfold/urlfold/codec"

// This file parses a URL by both standards, RFC 3986 and the URL Standard of
// browsers, independently of the profile.

// A normalizer for each standard.
var (
	rfcNormalizer     = codec.MustNamed("rfc3986-scheme")
	browserNormalizer = codec.MustNamed("whatwg")
)

// A standing is the verdict of a standard on a URL.
type standing string

// The values of a standing, as the output shows them.
const (
	valid   standing = "valid"
	invalid standing = "invalid" // can be parsed, but violates the standard
	failure standing = "failure" // cannot be parsed
)

// A view is the interpretation of a URL by one standard.
type view struct {
	standing standing
	faults   codec.Flags // why it is not valid
	err      error       // why it cannot be parsed
	raw      string      // a URL with the components that the standard sees
	k0, k1   string      // keys by RFC 3986 of the interpreted URL, to compare the views
}

// rfcView returns the interpretation of src by RFC 3986.
func (x *Explainer) rfcView(src []byte) view {
	var r codec.Result
	v := view{raw: string(src)}
	if v.err = codec.Parse(src, &r); v.err == nil {
		v.faults = r.Flags.Intersect(codec.SeverityViolation.Flags())
		v.compare(x.base, src)
	}
	if len(x.base) > 0 {
		v.raw = v.k1 // a relative reference has no host to compare
	}
	return v
}

// browserView returns the interpretation of src by browsers.
func (x *Explainer) browserView(src []byte) view {
	var r codec.Result
	href, err := browserNormalizer.AppendRef(nil, x.base, src, &r)
	v := view{raw: string(href), err: err}
	if err == nil {
		v.faults = r.Flags.Intersect(codec.SeverityValidationError.Flags())
		v.compare(nil, href)
	}
	return v
}

// compare sets the keys of v to the keys of url, the interpreted URL.
func (v *view) compare(base, url []byte) {
	var r codec.Result
	norm, err := rfcNormalizer.AppendRef(nil, base, url, &r)
	if v.err = err; err != nil {
		return
	}
	v.k0 = string(r.AppendKey(nil, codec.LevelSyntax))
	v.k1 = string(norm)
}

// rate returns v with its standing set.
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

// inViews returns the components in apart, as each standard sees them.
func (e *Explanation) inViews(apart []difference) []difference {
	var ra, rb codec.Result
	a, b := e.rfc.raw, e.whatwg.raw
	_ = codec.Parse([]byte(a), &ra) // cannot fail
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

// hostOf returns the host of a URL, for the output, or "no host".
func (t *TextWriter) hostOf(url string) string {
	var r codec.Result
	_ = codec.Parse([]byte(url), &r) // cannot fail
	if r.In.Span(codec.Host).Len() == 0 {
		return "no host"
	}
	return t.Escape(t.hideSecrets(string(r.In.Bytes([]byte(url), codec.Host))))
}
