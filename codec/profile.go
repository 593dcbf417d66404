package codec

import (
	"strings"

	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// A Profile says how a Normalizer parses URLs and which rules it applies.
// Profiles are plain values: they can be compared with ==, printed, and used as
// map keys. A Profile with nothing but a name parses by WHATWG, applies no
// further rules and has keys of LevelEquivalent. The zero Profile has no name, so
// New rejects it.
type Profile struct {
	// Name identifies the profile in output and errors. It must not be empty.
	Name string
	// Standard parses the URLs. Keys are computed by it too, unless
	// WithStandard chooses another standard.
	Standard Standard
	// Rules is the set of rules to apply, in addition to the ParserRules, which
	// the parser always applies.
	Rules Rules
	// Malformed says what to do with a '%' that starts no valid escape.
	Malformed percent.Malformed
	// Match names the program whose results are the normal forms, such as
	// "w3lib", or is empty. It goes with the standard RFC3986 and no rules.
	Match string
	// Key is the default key level: what LevelDefault means. Callers may ask
	// for any other level. LevelDefault itself means the level of the built-in
	// profile with this name; without one, LevelMatch if Match is set,
	// otherwise LevelEquivalent.
	Key Level
	// MaxLen is the length in bytes of the longest URL accepted. 0 means
	// DefaultMaxLen.
	MaxLen int
	// MaxDiagnostics is the largest number of diagnostics recorded for one URL.
	// 0 means DefaultMaxDiagnostics.
	MaxDiagnostics int
}

// Limits of a Profile, and of the secret of WithHMACKey.
const (
	DefaultMaxLen         = 64 << 10
	DefaultMaxDiagnostics = 16
	MaxLen                = 1 << 30 // largest value of Profile.MaxLen, in bytes. Not covered by the stability page.
	MaxDiagnostics        = 1 << 16 // largest value of Profile.MaxDiagnostics. Not covered by the stability page.
	// MinHMACKey is the shortest secret, in bytes, that a program should accept from its
	// users: 128 bits cannot be guessed. New does not enforce it.
	// Not covered by the stability page.
	MinHMACKey = 16
)

// profiles holds the built-in profiles, sorted by name.
var profiles = withMatches(
	Profile{Name: "analytics", Standard: WHATWG, Rules: Rules{escapeRules}, Key: LevelPage},
	Profile{Name: "crawler", Standard: WHATWG, Rules: Rules{escapeRules | lossyRules}, Key: LevelFetch},
	Profile{Name: "equiv", Standard: WHATWG, Rules: Rules{escapeRules}, Key: LevelEquivalent},
	Profile{Name: "logclean", Standard: WHATWG, Rules: Rules{escapeRules | 1<<RuleFallbackRFC}, Key: LevelEquivalent},
	Profile{Name: "rfc3986", Standard: RFC3986, Rules: Rules{syntaxRules}, Malformed: percent.MalformedEncode, Key: LevelSyntax},
	Profile{Name: "rfc3986-scheme", Standard: RFC3986, Rules: Rules{syntaxRules | schemeRules}, Malformed: percent.MalformedEncode, Key: LevelEquivalent},
	Profile{Name: "whatwg", Standard: WHATWG, Key: LevelEquivalent},
)

// Profiles returns a copy of the list of built-in profiles, sorted by name.
func Profiles() []Profile { return append([]Profile(nil), profiles...) }

// Lookup returns the built-in profile with the given name:
//
//	whatwg          the serialized URL of the URL Standard; keys K1
//	equiv           like whatwg, with escapes normalized by RFC 3986 §6.2.2; keys K1
//	logclean        like equiv, and URLs that browsers cannot parse are parsed by RFC 3986; keys K1
//	crawler         like equiv, without userinfo and fragment; keys K2
//	analytics       like equiv; keys K3
//	rfc3986         RFC 3986 §6.2.2, syntax-based normalization; keys K0
//	rfc3986-scheme  like rfc3986, and §6.2.3, scheme-based normalization; keys K1
//
// The other profiles reproduce a program: see [Profile.Program]. The error is a
// *NameError.
func Lookup(name string) (Profile, error) {
	p, ok := builtin(name)
	if !ok {
		var names []string
		for _, p := range profiles {
			names = append(names, p.Name)
		}
		return Profile{}, &NameError{"profile", name, suggest.Nearest(names, name)}
	}
	return p, nil
}

// builtin returns the built-in profile with the given name.
func builtin(name string) (p Profile, ok bool) {
	for _, p := range profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// A ProfileError reports why New rejected a profile.
type ProfileError struct {
	Profile string // the profile's name
	Reason  string
}

// Error returns "profile ", the name and the reason.
func (e *ProfileError) Error() string { return "profile " + e.Profile + ": " + e.Reason }

// defaultKey returns the key level of a profile that names none.
func (p *Profile) defaultKey() Level {
	if named, known := builtin(p.Name); known {
		return named.Key
	}
	if p.Match != "" {
		return LevelMatch
	}
	return LevelEquivalent
}

// check returns an error if the settings of p are invalid or contradict each
// other.
func (p *Profile) check() error {
	var reasons []string
	refuse := func(bad bool, reason string) {
		if bad {
			reasons = append(reasons, reason)
		}
	}
	named, known := builtin(p.Name)
	named.MaxLen, named.MaxDiagnostics = p.MaxLen, p.MaxDiagnostics
	refuse(p.Name == "", "missing name")
	refuse(known && *p != named, "differs from the built-in profile of the same name")
	refuse(p.Rules.set&^ProfileRules().set != 0, "contains a rule that profiles cannot choose")
	refuse(p.Malformed > percent.MalformedReject, "Malformed: unknown value")
	refuse(p.Key >= allLevels, "Key: unknown level")
	refuse(p.Key == LevelMatch && p.Match == "", "the key level match requires a profile that matches another program")
	refuse(p.MaxLen < 0 || p.MaxLen > MaxLen, "MaxLen must be between 0 and 1 GiB")
	refuse(p.MaxDiagnostics < 0 || p.MaxDiagnostics > MaxDiagnostics, "MaxDiagnostics must be between 0 and 65536")
	refuse(int(p.Standard) >= len(standardNames), "Standard: unknown value")
	refuse(p.Standard == WHATWG && p.Rules.set&ProfileRules().set&^chosenRules[WHATWG] != 0,
		"contains a rule that the standard whatwg implies or contradicts")
	refuse(p.Standard == RFC3986 && p.Rules.set&ProfileRules().set&^chosenRules[RFC3986] != 0, "contains a rule that requires the standard whatwg")
	refuse(p.Standard == WHATWG && p.Malformed != percent.MalformedKeep, "Malformed must be MalformedKeep with the standard whatwg")
	refuse(p.Rules.Has(RuleRFCClean) && !p.Rules.set.hasAll(escapeRules), "rfc-clean requires esc-upper and esc-unres")
	refuse(p.Standard == RFC3986 && p.Rules.Has(RuleDecodeUnreserved) && !p.Rules.Has(RuleRemoveDots),
		"esc-unres requires dots: decoding escapes can create dot segments")
	refuse(p.Rules.Has(RuleRemoveDots) && !p.Rules.Has(RuleGuardPath),
		"dots requires no-auth-guard: without it a path could become an authority")
	if p.Match != "" {
		refuse(lookupMatch(p.Match) == nil, "Match: unknown program")
		refuse(!p.Rules.IsZero(), "rules cannot be changed in a profile that matches another program")
		refuse(p.Standard != RFC3986 || p.Malformed != percent.MalformedKeep, "a profile that matches another program requires the standard rfc3986 and MalformedKeep")
	}
	if len(reasons) == 0 {
		return nil
	}
	return &ProfileError{Profile: p.Name, Reason: strings.Join(reasons, "; ")}
}
