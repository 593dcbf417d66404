package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/urlfold/urlfold/codec/idna"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/template"
)

// A Policy is what the levels K2 and K3 go by beyond the standards. It is made
// once, and shared; it must not change after it is given to New.
type Policy struct {
	Params     *params.Matcher // parameters that mean nothing for what is fetched; K2 leaves them out
	SiteParams *params.Matcher // parameters that mean nothing for which page it is; K3 leaves them out too
	Styles     *params.Styles  // how parameters are written, for those who read them: no key depends on it; may be nil
	Templates  *template.Set   // path templates that come before the built-in ones; may be nil
	SPA        []string        // hosts, with those below them, whose fragments "#/…" and "#!…" are pages; "*" is every host
	KeepHTTPS  bool            // K2: http and https are not the same
	LowerPath  bool            // K3: the path without regard to ASCII case
	LowerQuery bool            // K3: the query without regard to ASCII case
	NFC        bool            // K3: characters of path and query in Normalization Form C (UAX 15)
	Once       bool            // K3: a parameter counts once, however often it stands there with the same value
}

// defaultPolicy is the policy of a Normalizer that was given none.
var defaultPolicy = DefaultPolicy()

// DefaultPolicy returns the built-in policy: the parameter list params.Default,
// and nothing for particular sites.
func DefaultPolicy() *Policy {
	m, err := params.Compile(params.Default())
	if err != nil {
		panic("BUG: the built-in parameter list does not compile") // a test compiles it
	}
	return &Policy{Params: m}
}

// WithPolicy chooses the policy for the levels K2 and K3. The default is
// DefaultPolicy.
func WithPolicy(p *Policy) Option { return func(n *Normalizer) { n.policy = p } }

// Policy returns the policy of n.
func (n *Normalizer) Policy() *Policy { return n.policy }

// Versions names the lists of the policy and their versions, and its options:
// what a stored key of level K2 or K3, or a path template, depends on beside its
// key function. Policies that differ have different Versions, as long as lists
// that differ have different names or versions.
//
//	default@2026-11-21;site:profile@4c1d…;spa:b10a…;templates:77c9…;keep_https;nfc@17.0.0
//
// Hosts and templates are told by the start of a SHA-256.
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

// rewritesK3 reports whether an option has to look at the query of K2, or at the
// bytes of its path, on the way to K3.
func (p *Policy) rewritesK3() bool {
	return p.SiteParams != nil || p.NFC || p.Once || p.LowerPath || p.LowerQuery
}

// digest returns the first 64 bits, in hex, of the SHA-256 of texts, each with a
// line feed behind it.
func digest(texts []string) string {
	h := sha256.New()
	for _, s := range texts {
		h.Write([]byte(s + "\n")) // never fails, by the contract of hash.Hash
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// keepsFragment reports whether a fragment of a page of host is a page.
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

// isBelow reports whether host is domain, or a name below it.
func isBelow(host []byte, domain string) bool {
	rest, ok := bytes.CutSuffix(host, []byte(domain))
	return ok && (len(rest) == 0 || rest[len(rest)-1] == '.')
}

// cutDirective returns a fragment without the directives for the browser behind
// ":~:" (https://wicg.github.io/scroll-to-text-fragment/#the-fragment-directive).
func cutDirective(fragment []byte) []byte {
	if before, _, ok := bytes.Cut(fragment, fragmentDirective); ok {
		return before
	}
	return fragment
}

var fragmentDirective = []byte(":~:")
