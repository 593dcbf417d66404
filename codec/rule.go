package codec

import (
	"iter"
	"math/bits"
	"strings"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
)

// A Rule is one thing that normalization changes: a rule that a [Profile] has or
// has not, one that belongs to a standard, or one of the policy that makes keys of
// the levels K2 and K3. All that there is to say about it is in one table. The
// names are stable, the numbers are not: store names.
type Rule uint8

// The rules, in the order in which they are applied.
const (
	ruleTrim Rule = iota
	ruleTabs
	ruleResolve
	ruleAuthoritySlashes
	ruleHostDecode
	ruleIPv4
	ruleBackslash
	ruleDriveLetter
	rulePathRoot
	ruleCharset
	ruleMalformed

	// Repair what is no URI.
	EncodeIllegal // raw bytes that may not stand where they do become escapes

	// Keep the meaning in every scheme: RFC 3986 §6.2.2.
	UpperEscapes     // the hex digits of escapes
	DecodeUnreserved // escapes of unreserved bytes
	LowerScheme      //
	LowerHost        //
	RemoveDots       // dot segments
	GuardPath        // a path that would be read as an authority or a scheme gets "/." or "./"

	// Keep the meaning in the schemes that this package knows: RFC 3986 §6.2.3.
	DefaultPort   // and leading zeros of others
	EmptyPath     //
	FileLocalhost // file:/x and file://localhost/x become file:///x
	EmptyUserinfo //
	ShortIPv6     //
	ASCIIDomain   //

	// Make a URL of the WHATWG standard one of RFC 3986, which forbids bytes that
	// browsers leave alone.
	RFCClean

	// Change the meaning. A profile with any of these is lossy.
	DropUserinfo
	DropFragment

	// FallbackRFC is what becomes of a URL that browsers cannot parse: it is parsed
	// by RFC 3986, unless its authority holds a backslash.
	FallbackRFC

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

	numRules = iota
)

// A stage is a step of the way from a URL to its keys. Rules are numbered in the
// order of their stages.
type stage uint8

const (
	stagePrepare stage = iota // what is taken out before parsing
	stageParse                // what the parser changes
	stageEscapes              // bytes and escapes of each component
	stageSyntax               // components, in every scheme
	stageScheme               // components, by what their scheme says
	stageClean                // the whole URL
	stageDrop                 // what is not fetched
	stageInstead              // another standard
	stageK2
	stageK3
)

// standards is a set of standards.
type standards uint8

const (
	byRFC standards = 1 << iota
	byWHATWG
)

// levels is a set of the strings that a rule has a part in making.
type levels uint8

const (
	atNorm levels = 1 << iota // the normal form
	atK2                      // K2 of K1
	atK3                      // K3 of K2
)

// byPolicy is the clause of rules that no standard has.
const byPolicy = "policy"

// ruleTable is all that is known about each rule.
var ruleTable = [numRules]struct {
	name    string
	clause  string    // what licenses it: a clause of a standard, or byPolicy
	chosen  standards // whose profiles may have it
	always  standards // whose parser applies it, whatever the profile
	level   levels
	stage   stage
	example [2]string
}{
	ruleTrim:             {"trim-c0sp", "URL Standard §4.4", 0, byWHATWG, atNorm, stagePrepare, [2]string{" http://h/", "http://h/"}},
	ruleTabs:             {"tabs", "URL Standard §4.4", 0, byWHATWG, atNorm, stagePrepare, [2]string{"http://h/a\tb", "http://h/ab"}},
	ruleResolve:          {"resolve", "RFC 3986 §5.2, URL Standard §4.4", 0, byRFC | byWHATWG, atNorm, stageParse, [2]string{"../b", "http://h/b"}},
	ruleAuthoritySlashes: {"auth-slashes", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, [2]string{`http:\\h/`, "http://h/"}},
	ruleHostDecode:       {"host-decode", "URL Standard §3.5", 0, byWHATWG, atNorm, stageParse, [2]string{"http://%68/", "http://h/"}},
	ruleIPv4:             {"host-ip4", "URL Standard §3.5", 0, byWHATWG, atNorm | atK2, stageParse, [2]string{"http://0x7f.1/", "http://127.0.0.1/"}},
	ruleBackslash:        {"backslash", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, [2]string{`http://h/a\b`, "http://h/a/b"}},
	ruleDriveLetter:      {"drive-letter", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, [2]string{"file:///C|/a", "file:///C:/a"}},
	rulePathRoot:         {"path-root", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, [2]string{"file:a", "file:///a"}},
	ruleCharset:          {"q-charset", "URL Standard §4.4", 0, byWHATWG, atNorm, stageParse, [2]string{"http://h/?\u00fc", "http://h/?%FC"}},
	ruleMalformed:        {"malformed-encode", "RFC 3986 §2.4", 0, byRFC, atNorm, stageEscapes, [2]string{"http://h/%zz", "http://h/%25zz"}},

	EncodeIllegal:    {"add", "RFC 3986 §2.1, URL Standard §1.3", byRFC, byWHATWG, atNorm | atK2, stageEscapes, [2]string{"http://h/a b", "http://h/a%20b"}},
	UpperEscapes:     {"esc-upper", "RFC 3986 §6.2.2.1", byRFC | byWHATWG, 0, atNorm, stageEscapes, [2]string{"http://h/%2f", "http://h/%2F"}},
	DecodeUnreserved: {"esc-unres", "RFC 3986 §6.2.2.2", byRFC | byWHATWG, 0, atNorm, stageEscapes, [2]string{"http://h/%7Ea", "http://h/~a"}},
	LowerScheme:      {"scheme-lower", "RFC 3986 §6.2.2.1, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageSyntax, [2]string{"HTTP://h/", "http://h/"}},
	LowerHost:        {"host-lower", "RFC 3986 §6.2.2.1, URL Standard §3.5", byRFC, byWHATWG, atNorm, stageSyntax, [2]string{"http://H.example/", "http://h.example/"}},
	RemoveDots:       {"dots", "RFC 3986 §6.2.2.3, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageSyntax, [2]string{"http://h/a/../b", "http://h/b"}},
	GuardPath:        {"no-auth-guard", "RFC 3986 §3.3, §4.2, URL Standard §4.5", byRFC, byWHATWG, atNorm, stageSyntax, [2]string{"a:/..//b", "a:/.//b"}},

	DefaultPort:   {"port-def", "RFC 3986 §6.2.3, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageScheme, [2]string{"http://h:80/", "http://h/"}},
	EmptyPath:     {"path-empty", "RFC 3986 §6.2.3, RFC 9110 §4.2.3, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageScheme, [2]string{"http://h", "http://h/"}},
	FileLocalhost: {"file-localhost", "RFC 8089 §2, URL Standard §4.4", byRFC, byWHATWG, atNorm, stageScheme, [2]string{"file://localhost/x", "file:///x"}},
	EmptyUserinfo: {"ui-empty", "RFC 3986 §6.2.3, URL Standard §4.5", byRFC, byWHATWG, atNorm, stageScheme, [2]string{"http://@h/", "http://h/"}},
	ShortIPv6:     {"host-ip6", "RFC 5952 §4, URL Standard §3.6", byRFC, byWHATWG, atNorm, stageScheme, [2]string{"http://[0::1]/", "http://[::1]/"}},
	ASCIIDomain:   {"host-uts46", "UTS 46 §4.2, URL Standard §3.3", byRFC, byWHATWG, atNorm, stageScheme, [2]string{"http://b\u00fccher.example/", "http://xn--bcher-kva.example/"}},

	RFCClean:     {"rfc-clean", "RFC 3986 §2.1", byWHATWG, 0, atNorm, stageClean, [2]string{"http://h/?a|b", "http://h/?a%7Cb"}},
	DropUserinfo: {"ui-drop", byPolicy, byWHATWG, 0, atNorm | atK2, stageDrop, [2]string{"http://u:p@h/", "http://h/"}},
	DropFragment: {"frag-drop", byPolicy, byWHATWG, 0, atNorm | atK2, stageDrop, [2]string{"http://h/a#b", "http://h/a"}},
	FallbackRFC:  {"rfc-fallback", byPolicy, byWHATWG, 0, atNorm, stageInstead, [2]string{"http://h:x/", "http://h%3Ax/"}},

	ruleRootDot:     {"host-rootdot", byPolicy, 0, 0, atK2, stageK2, [2]string{"http://h.example./", "http://h.example/"}},
	rulePathSession: {"psid", byPolicy, 0, 0, atK2, stageK2, [2]string{"http://h/a;jsessionid=1", "http://h/a"}},
	ruleHTTPS:       {"https-http", byPolicy, 0, 0, atK2 | atK3, stageK2, [2]string{"https://h/", "http://h/"}},
	ruleSession:     {"qsid", byPolicy, 0, 0, atK2, stageK2, [2]string{"http://h/?PHPSESSID=1", "http://h/"}},
	ruleDrop:        {"q-drop", byPolicy, 0, 0, atK2, stageK2, [2]string{"http://h/?utm_source=x&a=1", "http://h/?a=1"}},
	ruleNoEmpty:     {"q-noempty", byPolicy, 0, 0, atK2, stageK2, [2]string{"http://h/?", "http://h/"}},
	ruleEq:          {"q-eq", byPolicy, 0, 0, atK2, stageK2, [2]string{"http://h/?a=", "http://h/?a"}},
	ruleForm:        {"q-form", byPolicy, 0, 0, atK2, stageK2, [2]string{"http://h/?a=%20b", "http://h/?a=+b"}},
	ruleSort:        {"q-sort-name", byPolicy, 0, 0, atK2, stageK2, [2]string{"http://h/?b=1&a=2", "http://h/?a=2&b=1"}},
	ruleOnce:        {"q-once", byPolicy, 0, 0, atK3, stageK3, [2]string{"http://h/?a=1&a=1", "h/?a=1"}},
	ruleWWW:         {"www-one", byPolicy, 0, 0, atK3, stageK3, [2]string{"http://www.h.example/", "h.example/"}},
	ruleSlashes:     {"slash-one", byPolicy, 0, 0, atK3, stageK3, [2]string{"http://h/a//b", "h/a/b"}},
	ruleIndexFile:   {"dirindex", byPolicy, 0, 0, atK3, stageK3, [2]string{"http://h/a/index.html", "h/a"}},
	ruleTrail:       {"slash-trail", byPolicy, 0, 0, atK3, stageK3, [2]string{"http://h/a/", "h/a"}},
	ruleNFC:         {"nfc", byPolicy, 0, 0, atK3, stageK3, [2]string{"http://h/e%CC%81", "h/%C3%A9"}},
	ruleLowerPath:   {"lower-path", byPolicy, 0, 0, atK3, stageK3, [2]string{"http://h/A", "h/a"}},
	ruleLowerQuery:  {"lower-query", byPolicy, 0, 0, atK3, stageK3, [2]string{"http://h/?A=B", "h/?a=b"}},
}

// String returns the rule's name as it appears in output: "dots".
func (r Rule) String() string {
	if int(r) < len(ruleTable) {
		return ruleTable[r].name
	}
	return "unknown"
}

// Clause returns what licenses the rule: a clause of a standard, or "policy".
func (r Rule) Clause() string { return ruleTable[r].clause }

// Example returns a URL that shows the rule, and what becomes of it: its normal
// form or, of a rule of keys, the canonical string of the first level that has the
// rule. A relative one stands against the base "http://h/a/".
func (r Rule) Example() (before, after string) {
	return ruleTable[r].example[0], ruleTable[r].example[1]
}

// ParseRule returns the rule of that name.
func ParseRule(name string) (Rule, error) {
	for r := range ruleTable {
		if ruleTable[r].name == name {
			return Rule(r), nil
		}
	}
	return 0, &NameError{"rule", name}
}

// Rules is a set of rules. The zero Rules is empty. Sets can be compared with ==,
// and combined with | and &^.
type Rules uint64

const (
	syntaxRules Rules = 1<<EncodeIllegal | 1<<UpperEscapes | 1<<DecodeUnreserved | 1<<LowerScheme | 1<<LowerHost | 1<<RemoveDots | 1<<GuardPath
	schemeRules Rules = 1<<DefaultPort | 1<<EmptyPath | 1<<FileLocalhost | 1<<EmptyUserinfo | 1<<ShortIPv6 | 1<<ASCIIDomain
	escapeRules Rules = 1<<UpperEscapes | 1<<DecodeUnreserved
	lossyRules  Rules = 1<<DropUserinfo | 1<<DropFragment
)

// selectRules returns the rules that is reports true for.
func selectRules(is func(Rule) bool) (s Rules) {
	for r := range Rule(numRules) {
		s.set(r, is(r))
	}
	return s
}

// chosenRules are the rules that the profiles of each standard may have.
var chosenRules = [...]Rules{
	RFC:    selectRules(func(r Rule) bool { return ruleTable[r].chosen&byRFC != 0 }),
	WHATWG: selectRules(func(r Rule) bool { return ruleTable[r].chosen&byWHATWG != 0 }),
}

// RulesOf returns the set of these rules.
func RulesOf(rules ...Rule) (s Rules) {
	for _, r := range rules {
		s.set(r, true)
	}
	return s
}

// AllRules returns the set of all rules.
func AllRules() Rules { return 1<<numRules - 1 }

// ProfileRules returns the rules that a profile can have.
func ProfileRules() Rules { return chosenRules[RFC] | chosenRules[WHATWG] }

// ParserRules returns the rules of a standard that its parser applies whatever the
// profile.
func ParserRules(std Standard) Rules {
	return selectRules(func(r Rule) bool { return ruleTable[r].always>>std&1 != 0 })
}

// KeyRules returns the rules that make keys of a level of those of the level
// before. K2 and K3 have some by policy; those of K0 and K1 are in RFC 3986.
func KeyRules(lv Level) Rules {
	switch lv {
	case K0:
		return syntaxRules
	case K1:
		return schemeRules
	case K2:
		return selectRules(func(r Rule) bool { return ruleTable[r].level&atK2 != 0 })
	}
	return selectRules(func(r Rule) bool { return ruleTable[r].level&atK3 != 0 })
}

// Has reports whether r is in the set.
func (s Rules) Has(r Rule) bool { return s>>r&1 != 0 }

// HasAll reports whether all rules of o are in the set.
func (s Rules) HasAll(o Rules) bool { return s&o == o }

// Len returns how many rules are in the set.
func (s Rules) Len() int { return bits.OnesCount64(uint64(s)) }

// All yields the rules of the set, in the order in which they are applied.
func (s Rules) All() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Rule(bits.TrailingZeros64(uint64(s)))) {
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

// String returns what AppendTo appends.
func (s Rules) String() string { return string(s.AppendTo(nil)) }

// ParseRules reads names separated by commas: "esc-upper,dots". The error is
// about the first name that is no rule's.
func ParseRules(text string) (Rules, error) {
	var s Rules
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			continue
		}
		r, err := ParseRule(name)
		if err != nil {
			return 0, err
		}
		s.set(r, true)
	}
	return s, nil
}

// set puts r in the set if it is so.
func (s *Rules) set(r Rule, so bool) { *s |= Rules(b2i(so)) << r }

// queryRules returns the rules that package params has applied to a query: the
// bits of why, from params.WhySession on, have the order of the rules.
func queryRules(why params.Why) Rules { return Rules(why/params.WhySession) << ruleSession }

// An escapeNames says what the rules of package percent are called, in the order of
// its bits.
type escapeNames [4]Rule

// In the standard of browsers a malformed '%' is escaped only for RFCClean.
var (
	rfcEscapes     = escapeNames{ruleMalformed, EncodeIllegal, UpperEscapes, DecodeUnreserved}
	browserEscapes = escapeNames{RFCClean, EncodeIllegal, UpperEscapes, DecodeUnreserved}
)

// rfcApplied and whatwgApplied are the rules for what package percent has applied.
var rfcApplied, whatwgApplied = rfcEscapes.table(), browserEscapes.table()

func (names *escapeNames) table() (t [16]Rules) {
	for a := range t {
		for i, r := range names {
			t[a].set(r, a>>i&1 != 0)
		}
	}
	return t
}

// escapes returns what the rules say about the escapes and raw bytes of a
// component whose raw bytes must not be in add.
func (p *Profile) escapes(add percent.Set) percent.Rules {
	if !p.Rules.Has(EncodeIllegal) {
		add = percent.None
	}
	return percent.Rules{
		Add:        add,
		Malformed:  p.Malformed,
		Upper:      p.Rules.Has(UpperEscapes),
		Unreserved: p.Rules.Has(DecodeUnreserved),
	}
}
