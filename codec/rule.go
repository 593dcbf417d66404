package codec

import (
	"iter"
	"math/bits"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
)

// A Rule names one change that normalization makes: a rule that a [Profile] can
// choose, one that the parser of a standard always applies, or one that the
// policy for the key levels K2 and K3 applies. The names are stable, the
// numbers are not: store names.
type Rule uint8

// The rules, in the order in which they are applied.
const (
	ruleTrim Rule = iota
	ruleTabs
	ruleResolve
	ruleMatch
	ruleAuthoritySlashes
	ruleHostDecode
	ruleIPv4
	ruleBackslash
	ruleDriveLetter
	rulePathRoot
	ruleCharset
	ruleMalformed

	// Rules that make a URI of RFC 3986 out of other text.
	RuleEncodeIllegal // escape raw bytes where the grammar does not allow them

	// Rules that keep the meaning of URLs of every scheme: RFC 3986 §6.2.2.
	RuleUpperEscapes     // write the hex digits of escapes in upper case
	RuleDecodeUnreserved // decode escapes of unreserved bytes
	RuleLowerScheme      // write the scheme in lower case
	RuleLowerHost        // write the host in lower case
	RuleRemoveDots       // remove dot segments
	RuleGuardPath        // put "/." or "./" before a path that would parse as an authority or a scheme

	// Rules that keep the meaning of URLs of the known schemes: RFC 3986 §6.2.3.
	RuleDefaultPort   // remove the default port, and leading zeros of other ports
	RuleEmptyPath     // change an empty path to "/"
	RuleFileLocalhost // change file:/x and file://localhost/x to file:///x
	RuleEmptyUserinfo // remove empty userinfo
	RuleShortIPv6     // write IPv6 addresses in the form of RFC 5952
	RuleASCIIDomain   // write domains in ASCII by UTS 46

	// RuleRFCClean turns a URL serialized by WHATWG into a URI of RFC 3986, which
	// forbids some bytes that browsers leave unescaped.
	RuleRFCClean

	// Rules that change the meaning. A profile with any of them is lossy.
	RuleDropUserinfo
	RuleDropFragment

	// RuleFallbackRFC parses a URL by RFC 3986 if browsers cannot parse it,
	// unless the authority of the URL contains a backslash, or RuleDropUserinfo
	// could not drop the credentials that browsers see.
	RuleFallbackRFC

	ruleRootDot
	rulePathSession
	ruleHTTPS
	ruleSession // from here to ruleOnce in the order of params.Why
	ruleDrop
	ruleNoEmpty
	ruleEq
	ruleForm
	ruleSort
	ruleOnce
	ruleWWW
	ruleSlashes
	ruleIndexFile
	ruleTrail
	ruleNFC
	ruleLowerPath
	ruleLowerQuery
	ruleSchemeDrop
	ruleTemplate
	ruleNames

	numRules = iota
)

// A stage is a step on the way from a URL to its keys. Rules are numbered in
// the order of their stages.
type stage uint8

const (
	stagePrepare stage = iota // removals before parsing
	stageParse                // changes made by the parser
	stageEscapes              // bytes and escapes of each component
	stageSyntax               // components, in every scheme
	stageScheme               // components, depending on the scheme
	stageClean                // the whole URL
	stageDrop                 // removal of parts that are not sent to servers
	stageInstead              // parsing by the other standard
	stageK2
	stageK3
	stageSurface
)

// standards is a set of standards.
type standards uint8

const (
	byWHATWG standards = 1 << iota // in the order of Standard
	byRFC
	byMatch // profiles with Profile.Match
)

// levels is a set of the texts that a rule can contribute to.
type levels uint8

const (
	atNorm    levels = 1 << iota // the normal form
	atK2                         // the step from K1 to K2
	atK3                         // the step from K2 to K3
	atSurface                    // the step from K2 to LevelShape
)

// byPolicy is the clause of rules that no standard defines.
const byPolicy = "policy"

// ruleTable describes each rule.
var ruleTable = [numRules]struct {
	name   string
	clause string    // the clause of a standard that permits the rule, or byPolicy
	chosen standards // standards whose profiles may choose it
	always standards // standards whose parser always applies it
	level  levels
	stage  stage
	before string // an example of the text before the rule
	after  string
}{
	ruleTrim:             {"trim-c0sp", "URL Standard §4.4", 0, byWHATWG, atNorm, stagePrepare, " http://h/", "http://h/"},
	ruleTabs:             {"tabs", "URL Standard §4.4", 0, byWHATWG, atNorm, stagePrepare, "http://h/a\tb", "http://h/ab"},
	ruleResolve:          {"resolve", "RFC 3986 §5.2, URL Standard §4.4", 0, byRFC | byWHATWG, atNorm, stageParse, "../b", "http://h/b"},
	ruleMatch:            {"match", "the program that the profile matches", 0, byMatch, atNorm, stageParse, "http://H.example/b", "example,H,//http:/b"},
	ruleAuthoritySlashes: {"auth-slashes", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, `http:\\h/`, "http://h/"},
	ruleHostDecode:       {"host-decode", "URL Standard §3.5", 0, byWHATWG, atNorm, stageParse, "http://%68/", "http://h/"},
	ruleIPv4:             {"host-ip4", "URL Standard §3.5", 0, byWHATWG, atNorm | atK2, stageParse, "http://0x7f.1/", "http://127.0.0.1/"},
	ruleBackslash:        {"backslash", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, `http://h/a\b`, "http://h/a/b"},
	ruleDriveLetter:      {"drive-letter", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, "file:///C|/a", "file:///C:/a"},
	rulePathRoot:         {"path-root", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, "file:a", "file:///a"},
	ruleCharset:          {"q-charset", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, "http://h/?\u00fc", "http://h/?%FC"},
	ruleMalformed:        {"malformed-encode", "RFC 3986 §2.4", 0, byRFC, atNorm, stageEscapes, "http://h/%zz", "http://h/%25zz"},

	RuleEncodeIllegal:    {"add", "RFC 3986 §2.1, URL Standard §1.3", byRFC, byWHATWG, atNorm | atK2, stageEscapes, "http://h/a b", "http://h/a%20b"},
	RuleUpperEscapes:     {"esc-upper", "RFC 3986 §6.2.2.1", byRFC | byWHATWG, 0, atNorm, stageEscapes, "http://h/%2f", "http://h/%2F"},
	RuleDecodeUnreserved: {"esc-unres", "RFC 3986 §6.2.2.2", byRFC | byWHATWG, 0, atNorm, stageEscapes, "http://h/%7Ea", "http://h/~a"},
	RuleLowerScheme:      {"scheme-lower", "RFC 3986 §6.2.2.1, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageSyntax, "HTTP://h/", "http://h/"},
	RuleLowerHost:        {"host-lower", "RFC 3986 §6.2.2.1, URL Standard §3.5", byRFC, byWHATWG, atNorm, stageSyntax, "http://H.example/", "http://h.example/"},
	RuleRemoveDots:       {"dots", "RFC 3986 §6.2.2.3, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageSyntax, "http://h/a/../b", "http://h/b"},
	RuleGuardPath:        {"no-auth-guard", "RFC 3986 §3.3, §4.2, URL Standard §4.5", byRFC, byWHATWG, atNorm, stageSyntax, "a:/..//b", "a:/.//b"},

	RuleDefaultPort:   {"port-def", "RFC 3986 §6.2.3, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageScheme, "http://h:80/", "http://h/"},
	RuleEmptyPath:     {"path-empty", "RFC 3986 §6.2.3, RFC 9110 §4.2.3, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageScheme, "http://h", "http://h/"},
	RuleFileLocalhost: {"file-localhost", "RFC 8089 §2, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageScheme, "file://localhost/x", "file:///x"},
	RuleEmptyUserinfo: {"ui-empty", "RFC 3986 §6.2.3, URL Standard §4.5", byRFC, byWHATWG, atNorm, stageScheme, "http://@h/", "http://h/"},
	RuleShortIPv6:     {"host-ip6", "RFC 5952 §4, URL Standard §3.6", byRFC, byWHATWG, atNorm, stageScheme, "http://[0::1]/", "http://[::1]/"},
	RuleASCIIDomain:   {"host-uts46", "UTS 46 §4.2, URL Standard §3.3", byRFC, byWHATWG, atNorm, stageScheme, "http://b\u00fccher.example/", "http://xn--bcher-kva.example/"},

	RuleRFCClean:     {"rfc-clean", "RFC 3986 §2.1", byWHATWG, 0, atNorm, stageClean, "http://h/?a|b", "http://h/?a%7Cb"},
	RuleDropUserinfo: {"ui-drop", byPolicy, byWHATWG, 0, atNorm | atK2, stageDrop, "http://u:p@h/", "http://h/"},
	RuleDropFragment: {"frag-drop", byPolicy, byWHATWG, 0, atNorm | atK2 | atSurface, stageDrop, "http://h/a#b", "http://h/a"},
	RuleFallbackRFC:  {"rfc-fallback", byPolicy, byWHATWG, 0, atNorm, stageInstead, "http://h:x/", "http://h%3Ax/"},

	ruleRootDot:     {"host-rootdot", byPolicy, 0, 0, atK2, stageK2, "http://h.example./", "http://h.example/"},
	rulePathSession: {"psid", byPolicy, 0, 0, atK2, stageK2, "http://h/a;jsessionid=1", "http://h/a"},
	ruleHTTPS:       {"https-http", byPolicy, 0, 0, atK2 | atK3, stageK2, "https://h/", "http://h/"},
	ruleSession:     {"qsid", byPolicy, 0, 0, atK2, stageK2, "http://h/?PHPSESSID=1", "http://h/"},
	ruleDrop:        {"q-drop", byPolicy, 0, 0, atK2, stageK2, "http://h/?utm_source=x&a=1", "http://h/?a=1"},
	ruleNoEmpty:     {"q-noempty", byPolicy, 0, 0, atK2, stageK2, "http://h/?", "http://h/"},
	ruleEq:          {"q-eq", byPolicy, 0, 0, atK2, stageK2, "http://h/?a=", "http://h/?a"},
	ruleForm:        {"q-form", byPolicy, 0, 0, atK2, stageK2, "http://h/?a=%20b", "http://h/?a=+b"},
	ruleSort:        {"q-sort-name", byPolicy, 0, 0, atK2, stageK2, "http://h/?b=1&a=2", "http://h/?a=2&b=1"},
	ruleOnce:        {"q-once", byPolicy, 0, 0, atK3, stageK3, "http://h/?a=1&a=1", "h/?a=1"},
	ruleWWW:         {"www-one", byPolicy, 0, 0, atK3, stageK3, "http://www.h.example/", "h.example/"},
	ruleSlashes:     {"slash-one", byPolicy, 0, 0, atK3, stageK3, "http://h/a//b", "h/a/b"},
	ruleIndexFile:   {"dirindex", byPolicy, 0, 0, atK3, stageK3, "http://h/a/index.html", "h/a"},
	ruleTrail:       {"slash-trail", byPolicy, 0, 0, atK3, stageK3, "http://h/a/", "h/a"},
	ruleNFC:         {"nfc", byPolicy, 0, 0, atK3, stageK3, "http://h/e%CC%81", "h/%C3%A9"},
	ruleLowerPath:   {"lower-path", byPolicy, 0, 0, atK3, stageK3, "http://h/A", "h/a"},
	ruleLowerQuery:  {"lower-query", byPolicy, 0, 0, atK3, stageK3, "http://h/?A=B", "h/?a=b"},

	ruleSchemeDrop: {"scheme-drop", byPolicy, 0, 0, atSurface, stageSurface, "ftp://h/a", "h/a"},
	ruleTemplate:   {"path-template", byPolicy, 0, 0, atSurface, stageSurface, "http://h/user/17", "h/user/{int}"},
	ruleNames:      {"q-names", byPolicy, 0, 0, atSurface, stageSurface, "http://h/?b=1&a=2&b=3", "h/?a&b"},
}

// String returns the name used in output, such as "dots", or "unknown".
func (r Rule) String() string {
	if int(r) < len(ruleTable) {
		return ruleTable[r].name
	}
	return "unknown"
}

// Clause returns the clause of a standard that permits the rule, or "policy" if
// no standard defines it.
func (r Rule) Clause() string { return ruleTable[r].clause }

// Example returns a URL that shows the effect of the rule, and the result: its
// normal form or, for a rule of keys, the canonical string of the first level
// that applies the rule. A relative URL is resolved against "http://h/a/".
// Not covered by the stability page.
func (r Rule) Example() (before, after string) {
	return ruleTable[r].before, ruleTable[r].after
}

// ParseRule returns the rule with the given name. The error is a *NameError.
func ParseRule(name string) (Rule, error) {
	for r := range ruleTable {
		if ruleTable[r].name == name {
			return Rule(r), nil
		}
	}
	return 0, &NameError{What: "rule", Name: name}
}

// Rules is a set of rules. The zero Rules is empty. Sets can be compared with ==.
type Rules struct{ set ruleSet }

// A ruleSet is a set of rules inside this package: a bit for each.
type ruleSet uint64

// Sets of rules. onePass supports a profile if all of its rules are in these
// sets, so a rule that is added here must be added to onePass, too: see
// Profile.walkTable.
const (
	syntaxRules ruleSet = 1<<RuleEncodeIllegal | 1<<RuleUpperEscapes | 1<<RuleDecodeUnreserved | 1<<RuleLowerScheme | 1<<RuleLowerHost | 1<<RuleRemoveDots | 1<<RuleGuardPath
	schemeRules ruleSet = 1<<RuleDefaultPort | 1<<RuleEmptyPath | 1<<RuleFileLocalhost | 1<<RuleEmptyUserinfo | 1<<RuleShortIPv6 | 1<<RuleASCIIDomain
	escapeRules ruleSet = 1<<RuleUpperEscapes | 1<<RuleDecodeUnreserved
	lossyRules  ruleSet = 1<<RuleDropUserinfo | 1<<RuleDropFragment
)

// selectRules returns the set of the rules that satisfy is.
func selectRules(is func(Rule) bool) (s ruleSet) {
	for r := range Rule(numRules) {
		s.set(r, is(r))
	}
	return s
}

// chosenRules holds, for each standard, the rules that its profiles can choose.
var chosenRules = [...]ruleSet{
	RFC3986: selectRules(func(r Rule) bool { return ruleTable[r].chosen&byRFC != 0 }),
	WHATWG:  selectRules(func(r Rule) bool { return ruleTable[r].chosen&byWHATWG != 0 }),
}

// RulesOf returns the set of the given rules.
func RulesOf(rules ...Rule) Rules { return Rules{}.With(rules...) }

// AllRules returns the set of all rules. Not covered by the stability page.
func AllRules() Rules { return Rules{1<<numRules - 1} }

// ProfileRules returns the set of the rules that a profile can choose, for one
// standard or for both. Not covered by the stability page.
func ProfileRules() Rules { return Rules{chosenRules[RFC3986] | chosenRules[WHATWG]} }

// ParserRules returns the set of the rules that the parser of a standard
// applies whatever the profile. Not covered by the stability page.
func ParserRules(std Standard) Rules {
	return Rules{selectRules(func(r Rule) bool { return ruleTable[r].always>>std&1 != 0 })}
}

// KeyRules returns the set of the rules that lead from the level before lv to
// lv; for K0, from the parsed URL, and for LevelShape, from K2. There are none
// for LevelDefault, and lv must not be LevelMatch. RFC 3986 defines the rules
// of K0 and K1; the policy decides in part about K2 and K3.
// Not covered by the stability page.
func KeyRules(lv Level) Rules { return Rules{keyRules(lv)} }

func keyRules(lv Level) ruleSet {
	switch lv {
	case LevelDefault:
		return 0
	case LevelSyntax:
		return syntaxRules
	case LevelEquivalent:
		return schemeRules
	case LevelFetch:
		return selectRules(func(r Rule) bool { return ruleTable[r].level&atK2 != 0 })
	case LevelShape:
		return selectRules(func(r Rule) bool { return ruleTable[r].level&atSurface != 0 })
	}
	return selectRules(func(r Rule) bool { return ruleTable[r].level&atK3 != 0 })
}

// Has reports whether r is in the set.
func (s Rules) Has(r Rule) bool { return s.set.Has(r) }

// With returns the set with rules added.
func (s Rules) With(rules ...Rule) Rules {
	for _, r := range rules {
		s.set.set(r, true)
	}
	return s
}

// Union returns the rules that are in s or in o.
func (s Rules) Union(o Rules) Rules { return Rules{s.set | o.set} }

// Minus returns the rules of s that are not in o.
func (s Rules) Minus(o Rules) Rules { return Rules{s.set &^ o.set} }

// Intersect returns the rules that are in both sets.
func (s Rules) Intersect(o Rules) Rules { return Rules{s.set & o.set} }

// IsZero reports whether no rule is in the set.
func (s Rules) IsZero() bool { return s.set == 0 }

// Has reports whether r is in the set.
func (s ruleSet) Has(r Rule) bool { return s>>r&1 != 0 }

// hasAll reports whether every rule of o is in the set.
func (s ruleSet) hasAll(o ruleSet) bool { return s&o == o }

// Len returns the number of rules in the set.
func (s Rules) Len() int { return bits.OnesCount64(uint64(s.set)) }

// All yields the rules of the set, in the order in which they are applied.
func (s Rules) All() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for ; s.set != 0; s.set &= s.set - 1 {
			if !yield(Rule(bits.TrailingZeros64(uint64(s.set)))) {
				return
			}
		}
	}
}

// Names returns the names of the rules in the set, in the order of All.
func (s Rules) Names() []string {
	names := make([]string, 0, s.Len())
	for r := range s.All() {
		names = append(names, r.String())
	}
	return names
}

// AppendTo appends the names of the rules in the set, in the order of All,
// separated by commas.
func (s Rules) AppendTo(dst []byte) []byte {
	start := len(dst)
	for r := range s.All() {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(dst, r.String()...)
	}
	return dst
}

// String returns the text that AppendTo appends.
func (s Rules) String() string { return string(s.AppendTo(nil)) }

// ParseRules parses rule names separated by commas, such as "esc-upper,dots".
// It ignores empty names. The error is a *NameError about the first unknown
// name.
func ParseRules(text string) (Rules, error) {
	return parseNames(text, ParseRule, func(s Rules, r Rule) Rules { return s.With(r) })
}

// set adds r to the set if so is true.
func (s *ruleSet) set(r Rule, so bool) { *s |= ruleSet(b2i(so)) << r }

// queryRules returns the rules that package params applied to a query. The bits
// of why, starting with params.WhySession, have the order of the rules.
func queryRules(why params.Why) ruleSet { return ruleSet(why/params.WhySession) << ruleSession }

// An escapeNames maps the bits of percent.Applied, in their order, to rules.
type escapeNames [4]Rule

// With WHATWG a malformed '%' is escaped only because of RuleRFCClean.
var (
	rfcEscapes     = escapeNames{ruleMalformed, RuleEncodeIllegal, RuleUpperEscapes, RuleDecodeUnreserved}
	browserEscapes = escapeNames{RuleRFCClean, RuleEncodeIllegal, RuleUpperEscapes, RuleDecodeUnreserved}
)

// rfcApplied and whatwgApplied map a percent.Applied to the rules applied.
var rfcApplied, whatwgApplied = rfcEscapes.table(), browserEscapes.table()

func (names *escapeNames) table() (t [16]ruleSet) {
	for a := range t {
		for i, r := range names {
			t[a].set(r, a>>i&1 != 0)
		}
	}
	return t
}

// escapes returns how the rules treat the escapes and raw bytes of a component
// in which the bytes in add must not be raw.
func (p *Profile) escapes(add percent.ByteSet) percent.EscapeRules {
	if !p.Rules.Has(RuleEncodeIllegal) {
		add = percent.None
	}
	return percent.EscapeRules{
		Add:        add,
		Malformed:  p.Malformed,
		Upper:      p.Rules.Has(RuleUpperEscapes),
		Unreserved: p.Rules.Has(RuleDecodeUnreserved),
	}
}
