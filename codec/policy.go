package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/template"
)

// A Policy configures the keys of [LevelFetch] (K2) and [LevelPage] (K3) where the
// standards leave a choice. It changes keys only: a normal form has all parameters, also
// those that a key drops. A Normalizer has a copy of its Policy. The zero Policy drops no
// listed parameters.
type Policy struct {
	// Params lists the parameters that do not affect the fetched document.
	// LevelFetch drops them, and so does LevelPage.
	Params *params.Matcher
	// SiteParams lists the parameters that do not identify a page of the site.
	// Only LevelPage drops them. It may be nil.
	SiteParams *params.Matcher
	// Styles declares how parameters are written, for callers that parse them.
	// No key depends on it. It may be nil.
	Styles *params.Styles
	// Templates holds path templates that take precedence over the built-in
	// ones. It may be nil.
	Templates *template.Templates
	// SPA lists the hosts on which a fragment "#/…" or "#!…" identifies a page.
	// An entry includes the subdomains of the host; "*" means every host.
	SPA []string
	// KeepHTTPS makes LevelFetch distinguish http and https.
	KeepHTTPS bool
	// LowerPath makes LevelPage ignore ASCII case in the path.
	LowerPath bool
	// LowerQuery makes LevelPage ignore ASCII case in the query.
	LowerQuery bool
	// NFC makes LevelPage convert path and query to Unicode Normalization Form C
	// (UAX 15).
	NFC bool
	// Once makes LevelPage drop repeated parameters with the same name and value.
	Once bool
}

// defaultPolicy is the policy of a Normalizer made without WithPolicy.
var defaultPolicy = DefaultPolicy()

// DefaultPolicy returns a new copy of the built-in policy: the parameter list
// params.Default, and no settings for particular sites.
func DefaultPolicy() *Policy {
	m, err := params.Compile(params.Default())
	if err != nil {
		panic("BUG: the built-in parameter list does not compile") // a test compiles it
	}
	return &Policy{Params: m}
}

// WithPolicy sets the policy for the keys of LevelFetch and LevelPage to a copy of p,
// which must not be nil. The default is DefaultPolicy.
func WithPolicy(p *Policy) Option {
	return func(n *Normalizer) error {
		if p == nil {
			return &OptionError{"the policy is nil"}
		}
		n.policy = p.clone()
		return nil
	}
}

// Policy returns a copy of the policy of n.
func (n *Normalizer) Policy() *Policy { return n.policy.clone() }

// clone returns a copy of p. Matchers, styles and templates do not change once
// they are compiled, so the copy shares them.
func (p *Policy) clone() *Policy {
	c := *p
	c.SPA = slices.Clone(p.SPA)
	return &c
}

// PolicyVersions returns the Versions of n's policy if keys of a level depend
// on it, otherwise "". Not covered by the stability page.
func (n *Normalizer) PolicyVersions(lv Level) string {
	lv = n.keyLevel(lv)
	if lv != LevelFetch && lv != LevelPage && lv != LevelShape {
		return ""
	}
	return n.policy.Versions()
}

// Versions returns the options of the policy and its lists with their versions:
// everything besides the key function that a path template, or a stored key of
// level K2, K3 or LevelShape, depends on. Different policies have different
// Versions, provided that different lists have different names or versions.
//
//	default@2026-11-29;site:profile@4c1d…;spa:b10a…;templates:77c9…;keep_https;nfc@17.0.0
//
// Hosts and templates are identified by the first 64 bits of a SHA-256, in hex.
// Not covered by the stability page.
func (p *Policy) Versions() string {
	v := p.Params.Versions()
	add := func(on bool, name string) {
		if on {
			v += ";" + name
		}
	}
	site := p.SiteParams.Versions()
	add(site != "", "site:"+site)
	add(len(p.SPA) > 0, "spa:"+digest(slices.Compact(slices.Sorted(slices.Values(p.SPA)))))
	templates := p.Templates.Texts()
	add(len(templates) > 0, "templates:"+digest(templates))
	add(p.KeepHTTPS, "keep_https")
	add(p.LowerPath, "lower_path")
	add(p.LowerQuery, "lower_query")
	add(p.NFC, "nfc@"+idna.UnicodeVersion)
	add(p.Once, "once")
	return v
}

// rewritesK3 reports whether an option may rewrite the query of K2, or bytes of
// its path, for K3.
func (p *Policy) rewritesK3() bool {
	return p.SiteParams != nil || p.NFC || p.Once || p.LowerPath || p.LowerQuery
}

// digest returns the first 64 bits, in hex, of the SHA-256 of texts, each
// followed by a line feed.
func digest(texts []string) string {
	h := sha256.New()
	for _, s := range texts {
		h.Write([]byte(s + "\n")) // never fails, by the contract of hash.Hash
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// keepsFragment reports whether the fragment identifies a page of host.
func (p *Policy) keepsFragment(host, fragment []byte) bool {
	if len(p.SPA) == 0 || len(fragment) == 0 || fragment[0] != '/' && fragment[0] != '!' {
		return false
	}
	for _, s := range p.SPA {
		if s == "*" || isBelow(host, s) {
			return true
		}
	}
	return false
}

// isBelow reports whether host is domain or a subdomain of it.
func isBelow(host []byte, domain string) bool {
	rest, ok := bytes.CutSuffix(host, []byte(domain))
	return ok && (len(rest) == 0 || rest[len(rest)-1] == '.')
}

// cutDirective returns a fragment without its fragment directive, which starts
// at ":~:"
// (https://wicg.github.io/scroll-to-text-fragment/#the-fragment-directive).
func cutDirective(fragment []byte) []byte {
	if before, _, ok := bytes.Cut(fragment, fragmentDirective); ok {
		return before
	}
	return fragment
}

var fragmentDirective = []byte(":~:")
