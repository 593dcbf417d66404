package record

import (
	"github.com/urlfold/urlfold/codec"
)

// This file makes the fields that are computed only where they are asked for.

// derived returns one of these fields of a URL that has a normal form, and
// whether it is present. It lies in scratch, until the next call.
func (w *Worker) derived(f fieldID) ([]byte, bool) {
	c := &w.cur
	switch f {
	case fSite:
		return w.site()
	case fSURT:
		return w.surt(), true
	case fTemplate:
		path := w.res.Out.Bytes(c.norm, codec.Path)
		w.key = w.job.norm.Policy().Templates.Append(w.key[:0], path)
		return w.key, true
	case fIRI:
		return w.iri(), true
	case fK0, fK1, fK2, fK3:
		w.key = w.appendKey(w.key[:0], keyLevels[f])
		return w.shown(w.key), true
	}
	return nil, false
}

// keyLevels holds the level that a field shows the key string of.
var keyLevels = [numFields]codec.Level{fK0: codec.K0, fK1: codec.K1, fK2: codec.K2, fK3: codec.K3}

// site returns the registrable domain of the host, private suffixes counted.
func (w *Worker) site() ([]byte, bool) {
	host, ok := w.component(fHost)
	if !ok || len(host) == 0 {
		return nil, false
	}
	w.side, ok = codec.AppendSite(w.side[:0], host, true)
	return w.side, ok
}

// surt returns the sort key of the key string.
func (w *Worker) surt() []byte {
	c := &w.cur
	w.key = append(w.key[:0], "//"...)
	w.key = w.appendKey(w.key, w.job.level)
	key := w.key[len("//"):]
	if w.job.level == codec.K3 && !c.nohost && isWeb(w.res.Out.Bytes(c.norm, codec.Scheme)) {
		key = w.key // which has a host, but no scheme in front of it
	}
	_ = codec.Parse(key, &w.scrub) // what has no reading has components all the same
	w.side = codec.AppendSURT(w.side[:0], key, &w.scrub.In, codec.SURTOptions{})
	return w.side
}

// isWeb reports whether a scheme, in lower case, is one that K3 leaves out.
func isWeb(scheme []byte) bool { return string(scheme) == "http" || string(scheme) == "https" }

// iri returns the display form of the normal form.
func (w *Worker) iri() []byte {
	w.key = codec.AppendIRI(w.key[:0], w.cur.norm, &w.res.Out)
	if w.cur.nohost {
		return w.key[len(placeholder):]
	}
	return w.shown(w.key)
}

// A standing says what a standard makes of a URL.
type standing string

// The standings.
const (
	valid   standing = "valid"
	invalid standing = "invalid" // it can be read, but holds what the standard does not allow
	failure standing = "failure" // it cannot
)

// rfc says what RFC 3986 makes of what was read.
func (w *Worker) rfc() standing {
	switch err := codec.Parse(w.cur.src, &w.scrub); {
	case err != nil:
		return failure
	case !w.scrub.Valid():
		return invalid
	}
	return valid
}

// whatwg says what the URL Standard makes of what was read: it is valid if there
// is no validation error.
func (w *Worker) whatwg() standing {
	var err error
	w.side, err = browser.AppendRef(w.side[:0], w.cur.base, w.cur.src, &w.scrub)
	switch {
	case err != nil:
		return failure
	case !w.scrub.Flags.Intersect(validationErrors).IsZero():
		return invalid
	}
	return valid
}

// validationErrors is the set of the flags that are the standard's.
var validationErrors = func() (s codec.Flags) {
	s = s.With(codec.HostMissing).With(codec.PortInvalid)
	for f := codec.DomainToASCII; f <= codec.FileInvalidWindowsDriveLetterHost; f++ {
		s = s.With(f)
	}
	return s
}()
