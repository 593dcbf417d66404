package codec

import (
	"iter"
	"strings"

	"github.com/urlfold/urlfold/codec/percent"
)

// Rules is a set of normalization rules. In whatever order they are combined,
// they are applied in the order of their declaration.
type Rules uint32

// The rules.
const (
	// Repair what is no URI.
	EncodeIllegal Rules = 1 << iota // /a b          /a%20b    RFC 3986 §2.1

	// Keep the meaning in every scheme: RFC 3986 §6.2.2.
	UpperEscapes     // %2f           %2F       §6.2.2.1
	DecodeUnreserved // %7Ea          ~a        §6.2.2.2
	LowerScheme      // HTTP:         http:     §6.2.2.1
	LowerHost        // //A.B         //a.b     §6.2.2.1
	RemoveDots       // /a/../b       /b        §6.2.2.3
	GuardPath        // a:/..//b      a:/.//b   §3.3, §4.2

	// Keep the meaning in the schemes that this package knows: RFC 3986 §6.2.3.
	DefaultPort   // http://a:080  http://a
	EmptyPath     // http://a      http://a/
	FileLocalhost // file:/x       file:///x     also file://localhost/x
	EmptyUserinfo // http://@a/    http://a/
	ShortIPv6     // //[0::1]      //[::1]       RFC 5952
	ASCIIDomain   // //bücher.de   //xn--bcher-kva.de   RFC 5891, UTS 46

	// Make a URL of the whatwg reading one of RFC 3986, which forbids bytes that
	// browsers leave alone.
	RFCClean // /a|b%          /a%7Cb%25     RFC 3986 §2.1

	// Change the meaning. A profile with any of these is lossy.
	DropUserinfo // //u:p@h       //h
	DropFragment // /a#b          /a

	// What becomes of a URL that the reading has no answer for.
	FallbackRFC // read it by RFC 3986, unless its authority holds a backslash

	allRules = 1<<iota - 1
)

const (
	syntaxRules = EncodeIllegal | UpperEscapes | DecodeUnreserved | LowerScheme | LowerHost | RemoveDots | GuardPath
	lossyRules  = DropUserinfo | DropFragment
	schemeRules = DefaultPort | EmptyPath | FileLocalhost | EmptyUserinfo | ShortIPv6 | ASCIIDomain
)

var ruleNames = []string{
	"add", "esc-upper", "esc-unres", "scheme-lower", "host-lower", "dots-rfc", "no-auth-guard",
	"port-def", "path-empty", "file-localhost", "ui-empty", "host-ip6", "host-uts46", "rfc-clean", "ui-drop", "frag-drop", "rfc-fallback",
}

// Has reports whether all rules of o are in r.
func (r Rules) Has(o Rules) bool { return r&o == o }

// AppendTo appends the names of the rules in the set, in their order, separated
// by commas.
func (r Rules) AppendTo(dst []byte) []byte {
	for i, name := range ruleNames {
		if r>>i&1 == 0 {
			continue
		}
		if r&(1<<i-1) != 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, name...)
	}
	return dst
}

// All yields the rules in the set, in their order, by name and by what licenses
// each: a clause of a standard, or "policy".
func (r Rules) All() iter.Seq2[string, string] {
	return func(yield func(name, clause string) bool) {
		for i, name := range ruleNames {
			if r>>i&1 != 0 && !yield(name, clauses[i]) {
				return
			}
		}
	}
}

// String returns what AppendTo appends.
func (r Rules) String() string { return string(r.AppendTo(nil)) }

// ParseRules reads names separated by commas: "esc-upper,dots-rfc". It reports
// the first name that is no rule's.
func ParseRules(s string) (r Rules, unknown string) {
	for name := range strings.SplitSeq(s, ",") {
		i := 0
		for i < len(ruleNames) && ruleNames[i] != name {
			i++
		}
		if i == len(ruleNames) && name != "" {
			return 0, name
		}
		r |= 1 << i & allRules
	}
	return r, ""
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
