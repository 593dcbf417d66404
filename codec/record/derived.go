package record

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/iri"
	"github.com/urlfold/urlfold/codec/surt"
)

// This file implements the fields that are computed only on request.

// derived returns one of these fields for a URL with a normal form, and whether
// it is present. The result points into scratch and is valid until the next
// call.
func (v *values) derived(f fieldID) ([]byte, bool) {
	c := &v.n.cur
	if ofKey.has(f) && !v.n.hasKey() {
		return nil, false
	}
	switch f {
	case fSite:
		return v.site()
	case fSURT:
		return v.surt(), true
	case fTemplate:
		path := v.n.res.Out.Bytes(c.norm, codec.Path)
		v.key = v.job.norm.Policy().Templates.Append(v.key[:0], path)
		return v.key, true
	case fIRI:
		return v.iri(), true
	case fK0, fK1, fK2, fK3, fSurface:
		if !v.n.res.HasKey(keyLevels[f]) {
			return nil, false
		}
		v.key = v.n.appendKey(v.key[:0], keyLevels[f])
		return v.shown(v.key), true
	}
	return nil, false
}

// ofKey is the set of fields that show the key string or its sort key.
const ofKey fieldSet = 1<<fK0 | 1<<fK1 | 1<<fK2 | 1<<fK3 | 1<<fSurface | 1<<fSURT

// keyLevels maps fields to the level of the key string that they show.
var keyLevels = [numFields]codec.Level{fK0: codec.K0, fK1: codec.K1, fK2: codec.K2, fK3: codec.K3, fSurface: codec.KSurface}

// site returns the registrable domain of the host, taking private suffixes into
// account.
func (v *values) site() (site []byte, ok bool) {
	host, ok := v.component(fHost)
	if !ok || len(host) == 0 {
		return nil, false
	}
	v.side, ok = codec.AppendSite(v.side[:0], host, true)
	return v.side, ok
}

// surt returns the sort key of the key string.
func (v *values) surt() []byte {
	c := &v.n.cur
	if v.job.sortKeys && v.job.level == codec.KMatch {
		return v.shownNorm()
	}
	v.key = append(v.key[:0], "//"...)
	v.key = v.n.appendKey(v.key, v.job.level)
	key := v.key[len("//"):]
	if !c.nohost && hidesScheme(v.job.level, &v.n.res.Out, c.norm) {
		key = v.key
	}
	_ = codec.Parse(key, &v.scrub) // components are set even on an error
	v.side = surt.Append(v.side[:0], key, &v.scrub.In, surt.Options{})
	return v.side
}

// hidesScheme reports whether the canonical string of a level begins with the
// host, although the URL norm, whose components are u, has a scheme.
func hidesScheme(lv codec.Level, u *codec.URL, norm []byte) bool {
	switch lv {
	case codec.K3:
		return isWeb(u.Bytes(norm, codec.Scheme))
	case codec.KSurface:
		return u.HasAuthority()
	}
	return false
}

// isWeb reports whether a lower-case scheme is one that K3 omits.
func isWeb(scheme []byte) bool { return string(scheme) == "http" || string(scheme) == "https" }

// iri returns the display form of the normal form.
func (v *values) iri() []byte {
	v.key = iri.Append(v.key[:0], v.n.cur.norm, &v.n.res.Out)
	if v.n.cur.nohost {
		return v.key[len(placeholder):]
	}
	return v.shown(v.key)
}

// standing is the result of checking a URL against a standard.
type standing string

// Standings of a URL.
const (
	valid   standing = "valid"
	invalid standing = "invalid" // it can be parsed but breaks a rule of the standard
	failure standing = "failure" // it cannot be parsed
)

// rfc returns the standing of the input under RFC 3986.
func (v *values) rfc() standing {
	switch err := codec.Parse(v.n.cur.src, &v.scrub); {
	case err != nil:
		return failure
	case !v.scrub.Valid():
		return invalid
	}
	return valid
}

// whatwg returns the standing of the input under the URL Standard. It is valid
// if there is no validation error.
func (v *values) whatwg() standing {
	var err error
	v.side, err = browser.AppendRef(v.side[:0], v.n.cur.base, v.n.cur.src, &v.scrub)
	switch {
	case err != nil:
		return failure
	case !v.scrub.Flags.Intersect(validationErrors).IsZero():
		return invalid
	}
	return valid
}

// validationErrors is the set of flags that are validation errors of the URL
// Standard.
var validationErrors = func() (s codec.Flags) {
	s = s.With(codec.HostMissing).With(codec.PortInvalid)
	for f := codec.DomainToASCII; f <= codec.FileInvalidWindowsDriveLetterHost; f++ {
		s = s.With(f)
	}
	return s
}()
