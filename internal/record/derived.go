package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/iri"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/surt"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file implements the fields that are computed only on request.

// derived returns one of the derived fields for a URL with a normal form,
// and whether it is present. The result points into scratch and is valid
// until the next call.
func (v *values) derived(f fieldID) ([]byte, bool) {
	if ofKey.has(f) && !v.n.hasKey() {
		return nil, false
	}
	switch f {
	case fSite:
		return v.site()
	case fSURT:
		return v.surt(), true
	case fTemplate:
		path, _ := v.shownComponent(fPath)
		v.key = v.job.templates.Append(v.key[:0], path)
		return v.key, true
	case fIRI:
		return v.iri(), true
	case fSyntax, fEquivalent, fFetch, fPage, fShape:
		if !v.n.res.HasKey(keyLevels[f]) {
			return nil, false
		}
		key, hostFirst := v.shownKey(keyLevels[f])
		if hostFirst {
			key = bytes.TrimPrefix(key, locate.Slashes)
		}
		return key, true
	}
	return nil, false
}

// ofKey is the set of fields that show the key string or its sort key.
const ofKey fieldSet = 1<<fSyntax | 1<<fEquivalent | 1<<fFetch | 1<<fPage | 1<<fShape | 1<<fSURT

// keyLevels maps fields to the level of the key string that they show.
var keyLevels = [numFields]codec.Level{fSyntax: codec.LevelSyntax, fEquivalent: codec.LevelEquivalent, fFetch: codec.LevelFetch, fPage: codec.LevelPage, fShape: codec.LevelShape}

// site returns the registrable domain of the host, taking private suffixes into
// account.
func (v *values) site() (site []byte, ok bool) {
	host, ok := v.component(fHost)
	if !ok || len(host) == 0 {
		return nil, false
	}
	marks := v.normMarks() // do this first: normMarks uses v.side
	if v.side, ok = codec.AppendSite(v.side[:0], host, true); !ok || !v.job.redact {
		return v.side, ok
	}
	site = v.side
	if end := int(v.n.res.Out.Span(codec.Host).End); marks != nil && bytes.HasSuffix(host, site) {
		v.part = redact.AppendMarked(v.part[:0], site, marks[end-len(site):end])
		site = v.part
	}
	return v.red.hideIn(site, inText), true
}

// shownKey returns the key string of a level for output. If it starts with the
// host, without a scheme, shownKey puts "//" in front, so that it is a URL.
func (v *values) shownKey(lv codec.Level) (key []byte, hostFirst bool) {
	c := &v.n.cur
	v.key = v.n.appendKey(append(v.key[:0], locate.Slashes...), lv)
	if hostFirst = !c.nohost && hidesScheme(lv, &v.n.res.Out, c.norm); hostFirst {
		return v.Shown(v.key), true
	}
	return v.Shown(v.key[len(locate.Slashes):]), false
}

// surt returns the sort key of the key string.
func (v *values) surt() []byte {
	if v.job.sortKeys && v.job.level == codec.LevelMatch {
		return v.shownNorm()
	}
	key, _ := v.shownKey(v.job.level)
	_ = codec.Parse(key, &v.scrub) // components are set even on an error
	v.side = surt.Append(v.side[:0], key, &v.scrub.In, surt.Options{})
	return v.side
}

// hidesScheme reports whether the canonical string of a level starts with the
// host, although the URL norm, whose components are u, has a scheme.
func hidesScheme(lv codec.Level, u *codec.URL, norm []byte) bool {
	switch lv {
	case codec.LevelPage:
		return isWeb(u.Bytes(norm, codec.Scheme))
	case codec.LevelShape:
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
		return v.Shown(v.key[len(placeholder):])
	}
	return v.Shown(v.key)
}

// standing is the result of checking a URL against a standard.
type standing string

// The values of a standing.
const (
	valid   standing = "valid"
	invalid standing = "invalid" // the URL can be parsed but breaks a rule of the standard
	failure standing = "failure" // the URL cannot be parsed
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
	v.side, err = locate.Browser.AppendRef(v.side[:0], v.n.cur.base, v.n.cur.src, &v.scrub)
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
	s = s.With(codec.FlagHostMissing).With(codec.FlagPortInvalid)
	for f := codec.FlagDomainToASCII; f <= codec.FlagFileInvalidWindowsDriveLetterHost; f++ {
		s = s.With(f)
	}
	return s
}()

// param is a query parameter and its name in the output.
type param struct {
	name  string
	value params.Pair
}

// campaign returns the campaign fields of the query in the order source,
// medium, name, term, content, id. If several parameters set the same field,
// the parameter of the first family wins (see params.CampaignField), and within
// a family the first parameter.
func (v *values) campaign(query []byte) []param {
	var best [params.NumFields]int // 1 + rank of the parameter found; 0 if none
	var found [params.NumFields]params.Pair
	for _, p := range v.n.pairs {
		v.n.name = params.AppendName(v.n.name[:0], p.Name(query))
		f, rank, ok := params.CampaignField(v.n.name)
		if ok && (best[f] == 0 || rank+1 < best[f]) {
			best[f], found[f] = rank+1, p
		}
	}
	v.telling = v.telling[:0]
	for f, p := range found {
		if best[f] > 0 {
			v.telling = append(v.telling, param{params.CampaignPart(f).String(), p})
		}
	}
	return v.telling
}

// clickIDs returns the click IDs of the query in order, with the first
// parameter of each name.
func (v *values) clickIDs(query []byte) []param {
	v.telling = v.telling[:0]
next:
	for _, p := range v.n.pairs {
		v.n.name = params.AppendName(v.n.name[:0], p.Name(query))
		id, ok := params.ClickID(v.n.name)
		if !ok {
			continue
		}
		for _, q := range v.telling {
			if q.name == id {
				continue next
			}
		}
		v.telling = append(v.telling, param{id, p})
	}
	return v.telling
}

// parameters returns the fields campaign and click_ids as JSON objects, and
// params as a JSON array, in scratch. The second result reports whether the
// field is present.
func (v *values) parameters(f fieldID) ([]byte, bool) {
	c := &v.n.cur
	if f == fParams {
		if c.why != 0 {
			return nil, false
		}
		return v.list.paramsJSON(), true
	}
	query, ok := v.shownComponent(fQuery)
	if !ok {
		return nil, false
	}
	v.n.pairs = params.AppendPairs(v.n.pairs[:0], query)
	list := v.clickIDs
	if f == fCampaign {
		list = v.campaign
	}
	found := list(query)
	if len(found) == 0 {
		return nil, false
	}
	v.key = append(v.key[:0], '{')
	for _, p := range found {
		v.n.name = params.AppendName(v.n.name[:0], p.value.Value(query))
		v.key = locate.AppendMember(v.key, p.name, v.n.name)
	}
	v.key[len(v.key)-1] = '}'
	return v.key, true
}
