package codec

import (
	"strings"

	"github.com/urlfold/urlfold/codec/percent"
)

// A Profile tells a Normalizer what to do. Profiles are plain values: compare
// them with ==, print them, use them as map keys.
type Profile struct {
	Name           string            // as it appears in output
	Standard       Standard          // the standard by which URLs are read, and on which keys are computed
	Rules          Rules             // what to change
	Malformed      percent.Malformed // what becomes of a '%' that starts no escape
	Key            Level             // the level of its keys, unless the user asks for another
	MaxLen         int               // longest URL accepted, in bytes; 0 means DefaultMaxLen
	MaxDiagnostics int               // most places recorded for one URL; 0 means DefaultMaxDiagnostics
}

// Limits of a Profile.
const (
	DefaultMaxLen         = 64 << 10
	DefaultMaxDiagnostics = 16
	MaxLen                = 1 << 30 // the most that Profile.MaxLen may be
	MaxDiagnostics        = 1 << 16 // the most that Profile.MaxDiagnostics may be
)

// profiles holds the built-in profiles, ordered by name.
var profiles = []Profile{
	{Name: "analytics", Standard: WHATWG, Rules: escapeRules, Key: K3},
	{Name: "crawler", Standard: WHATWG, Rules: escapeRules | lossyRules, Key: K2},
	{Name: "equiv", Standard: WHATWG, Rules: escapeRules, Key: K1},
	{Name: "logclean", Standard: WHATWG, Rules: escapeRules | 1<<FallbackRFC, Key: K1},
	{Name: "rfc3986", Rules: syntaxRules, Malformed: percent.MalformedEncode, Key: K0},
	{Name: "rfc3986-scheme", Rules: syntaxRules | schemeRules, Malformed: percent.MalformedEncode, Key: K1},
	{Name: "whatwg", Standard: WHATWG, Key: K1},
}

// Profiles returns the built-in profiles, ordered by name.
func Profiles() []Profile { return append([]Profile(nil), profiles...) }

// Lookup returns the built-in profile of that name:
//
//	analytics       as equiv; keys K3
//	crawler         as equiv, without userinfo and fragment; keys K2
//	logclean        as equiv, and by RFC 3986 where browsers have no reading; keys K1
//	equiv           the URL Standard's href, and RFC 3986 §6.2.2 on its escapes; keys K1
//	whatwg          the URL Standard's href; keys K1
//	rfc3986         RFC 3986 §6.2.2, syntax-based normalization; keys K0
//	rfc3986-scheme  and §6.2.3, scheme-based normalization; keys K1
func Lookup(name string) (p Profile, ok bool) {
	for _, p := range profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// A ProfileError says why New refused a profile.
type ProfileError struct {
	Profile string // its name
	Reason  string
}

// Error returns the name and the reason.
func (e *ProfileError) Error() string { return "profile " + e.Profile + ": " + e.Reason }

// check refuses contradictions.
func (p *Profile) check() error {
	var reasons []string
	refuse := func(bad bool, reason string) {
		if bad {
			reasons = append(reasons, reason)
		}
	}
	builtin, known := Lookup(p.Name)
	builtin.MaxLen, builtin.MaxDiagnostics = p.MaxLen, p.MaxDiagnostics
	refuse(p.Name == "", "has no name")
	refuse(known && *p != builtin, "takes the name of a built-in profile for something else")
	refuse(p.Rules&^ProfileRules() != 0, "has a rule that no profile can have")
	refuse(p.Malformed > percent.MalformedReject, "has a policy for stray '%' that does not exist")
	refuse(p.Key >= numLevels, "has a key level that does not exist")
	refuse(p.MaxLen < 0 || p.MaxLen > MaxLen, "MaxLen is not between 0 and 1 GiB")
	refuse(p.MaxDiagnostics < 0 || p.MaxDiagnostics > MaxDiagnostics, "MaxDiagnostics is not between 0 and 65536")
	refuse(int(p.Standard) >= len(standardNames), "has a reading that does not exist")
	refuse(p.Standard == WHATWG && p.Rules&ProfileRules()&^chosenRules[WHATWG] != 0,
		"has a rule that the whatwg reading implies or contradicts")
	refuse(p.Standard == RFC && p.Rules&ProfileRules()&^chosenRules[RFC] != 0, "has a rule for the whatwg reading only")
	refuse(p.Standard == WHATWG && p.Malformed != percent.MalformedKeep, "does not keep stray '%', as the whatwg reading does")
	refuse(p.Rules.Has(RFCClean) && !p.Rules.HasAll(escapeRules), "has rfc-clean without esc-upper and esc-unres")
	refuse(p.Standard == RFC && p.Rules.Has(DecodeUnreserved) && !p.Rules.Has(RemoveDots),
		"esc-unres without dots would leave dot segments that were escaped before")
	refuse(p.Rules.Has(RemoveDots) && !p.Rules.Has(GuardPath),
		"dots without no-auth-guard would turn a path into an authority")
	if len(reasons) == 0 {
		return nil
	}
	return &ProfileError{Profile: p.Name, Reason: strings.Join(reasons, "; ")}
}
