package codec

import (
	"iter"
	"math/bits"

	"github.com/urlfold/urlfold/codec/percent"
)

// A Flag names one defect or notable property of an input URL. Flags never make
// a call fail. Their names are stable, their numbers are not: store names.
type Flag uint8

// The flags.
const (
	// Escapes. The diagnostic of each is at its '%'.
	FlagTruncated        Flag = iota // '%' or "%4" at the end of a component
	FlagNonHex                       // '%' not followed by two hex digits
	FlagPercentU                     // "%u0041", which no URL standard defines
	FlagNUL                          // %00
	FlagControl                      // %01 to %1F, %7F
	FlagBadUTF8                      // escapes that are not UTF-8
	FlagOverlongUTF8                 // %C0%AF: a complete sequence, longer than UTF-8 allows
	FlagSurrogateUTF8                // %ED%A0%80: a complete sequence that encodes a UTF-16 surrogate
	FlagNoncharacter                 // %EF%BF%BF: U+FFFF and the other Unicode noncharacters
	FlagDoubleEncoded                // %2541: an escaped escape
	FlagEncodedTraversal             // "..%2F", "%2e%2e%2f" in a path
	FlagLowerHex                     // %2f, whose normal form is %2F
	FlagNeedlessEscape               // %41: an unreserved byte

	// Raw bytes that the grammar of RFC 3986 does not allow where they occur.
	FlagRawControl   // 00 to 1F, 7F
	FlagRawSpace     // 20
	FlagRawNonASCII  // 80 to FF
	FlagRawBackslash // '\'
	FlagRawIllegal   // any other

	// The host.
	FlagIPv4Nonstandard // an IPv4 address in hex, octal or short form, which many resolvers accept
	FlagIPLiteralBad    // brackets around text that is not an IP literal
	FlagHostNotLDH      // a name with characters other than letters, digits, hyphens and dots
	FlagIDNAInvalid     // a domain with characters or "xn--" labels that UTS 46 does not allow
	FlagZoneID          // [fe80::1%25eth0], RFC 6874 (withdrawn by RFC 9844)
	FlagHostAmbiguous   // browsers and RFC 3986 see different hosts, in the URL or in its base
	FlagPortInvalid     // text after the last ':' of the host that is not a port, or a port above 65535
	FlagHostMissing     // an http URL without a host

	// The grammar as a whole.
	FlagSchemeInvalid // text before the first ':' that is not a scheme (RFC 3986 §4.2)

	// Allowed, but notable.
	FlagCredentials       // a username or a password
	FlagRelative          // no scheme, and no base that supplied a scheme
	FlagDotSegments       // "." or ".." in the path, raw or escaped
	FlagHTMLEntity        // "&amp;" in the query
	FlagFragmentInRequest // a '#' in a request target, where clients must not send one
	FlagSchemeGuessed     // http was assumed for a request with a host and no scheme

	// Changes made before parsing
	// (https://url.spec.whatwg.org/#concept-basic-url-parser).
	FlagTrimmedEnds  // C0 controls or spaces were removed at either end
	FlagTabOrNewline // tabs or newlines were removed
	FlagSignedURL    // the query is signed: key rules leave it unchanged
	FlagWHATWGReject // browsers cannot parse the URL; it was parsed by RFC 3986

	// The validation errors of the WHATWG URL Standard, with its names and in
	// its order (https://url.spec.whatwg.org/#writing). FlagHostMissing and
	// FlagPortInvalid are listed above.
	FlagDomainToASCII
	FlagDomainPercentEncoded
	FlagHostInvalidCodePoint
	FlagIPv4NonASCIIInput // added to the standard after SpecDate
	FlagIPv4EmptyPart
	FlagIPv4TooFewParts
	FlagIPv4TooManyParts
	FlagIPv4NonNumericPart
	FlagIPv4NonDecimalPart
	FlagIPv4OutOfRangePart
	FlagIPv6Unclosed
	FlagIPv6InvalidCompression
	FlagIPv6TooManyPieces
	FlagIPv6MultipleCompression
	FlagIPv6InvalidCodePoint
	FlagIPv6TooFewPieces
	FlagIPv6PieceLeadingZero
	FlagIPv4InIPv6TooManyPieces
	FlagIPv4InIPv6InvalidCodePoint
	FlagIPv4InIPv6OutOfRangePart
	FlagIPv4InIPv6TooFewParts
	FlagInvalidURLUnit
	FlagSpecialSchemeMissingFollowingSolidus
	FlagMissingSchemeNonRelativeURL
	FlagInvalidReverseSolidus
	FlagInvalidCredentials
	FlagPortOutOfRange
	FlagFileInvalidWindowsDriveLetter
	FlagFileInvalidWindowsDriveLetterHost

	// Parameters. Package record sets these two. Package codec never does,
	// because it does not parse parameters.
	FlagEmptyPair  // an empty field in a query: "&&", or '&' at its start or end
	FlagParamStyle // a parameter that is not in its declared style

	// The log that the URL comes from. Package record sets these two and
	// FlagRecordOmitted.
	FlagMaybeTruncated // the log may have cut the end of the URL: it gets no key
	FlagQueryStripped  // the log may have removed the query and left the '?'

	FlagDiagnosticsDropped // the URL has more diagnostics than Profile.MaxDiagnostics

	FlagRecordOmitted // the field record of the output is empty: see Config.MaxExpansion of package record

	numFlags = iota
)

// String returns the name used in output, such as "non-hex", or "unknown".
func (f Flag) String() string {
	if int(f) < len(flagTable) {
		return flagTable[f].name
	}
	return "unknown"
}

// Severity returns how serious the flag is.
func (f Flag) Severity() Severity { return flagTable[f].severity }

// Clause returns the clause of the standard that the flag is based on, such as
// "RFC 3986 §2.1". It is empty if the flag is an observation of this package.
func (f Flag) Clause() string { return flagTable[f].clause }

// Meaning returns a description of the flag in lower case, without a full stop.
func (f Flag) Meaning() string { return flagTable[f].meaning }

// ParseFlag returns the flag with the given name. The error is a *NameError.
func ParseFlag(name string) (Flag, error) {
	for f := range flagTable {
		if flagTable[f].name == name {
			return Flag(f), nil
		}
	}
	return 0, &NameError{What: "flag", Name: name}
}

// Flags is a set of flags. The zero Flags is empty. Sets can be compared with ==.
type Flags struct{ lo, hi uint64 }

// AllFlags returns the set of all flags. Not covered by the stability page.
func AllFlags() (s Flags) {
	for f := range Flag(numFlags) {
		s = s.With(f)
	}
	return s
}

// Has reports whether f is in the set.
func (s Flags) Has(f Flag) bool {
	if f < 64 {
		return s.lo>>f&1 != 0
	}
	return s.hi>>(f&63)&1 != 0
}

// With returns the set with f added.
func (s Flags) With(f Flag) Flags {
	s.lo |= 1 << f
	s.hi |= 1 << (f - 64) // shifts by 192 or more, and so adds nothing, if f < 64
	return s
}

// Union returns the flags that are in s, in o, or in both.
func (s Flags) Union(o Flags) Flags { return Flags{s.lo | o.lo, s.hi | o.hi} }

// Without returns the set with f removed.
func (s Flags) Without(f Flag) Flags {
	o := Flags{}.With(f)
	return Flags{s.lo &^ o.lo, s.hi &^ o.hi}
}

// Intersect returns the flags that are both in s and in o.
func (s Flags) Intersect(o Flags) Flags { return Flags{s.lo & o.lo, s.hi & o.hi} }

// IsZero reports whether the set is empty.
func (s Flags) IsZero() bool { return s.lo|s.hi == 0 }

// Len returns the number of flags in the set.
func (s Flags) Len() int { return bits.OnesCount64(s.lo) + bits.OnesCount64(s.hi) }

// All yields the flags of the set in ascending order.
func (s Flags) All() iter.Seq[Flag] {
	return func(yield func(Flag) bool) {
		for w, base := s.lo, 0; base <= 64; w, base = s.hi, base+64 {
			for ; w != 0; w &= w - 1 {
				if !yield(Flag(base + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Names returns the names of the flags in the set, in the order of All.
func (s Flags) Names() []string {
	names := make([]string, 0, s.Len())
	for f := range s.All() {
		names = append(names, f.String())
	}
	return names
}

// AppendTo appends the names of the flags in the set, in the order of All,
// separated by commas.
func (s Flags) AppendTo(dst []byte) []byte {
	first := true
	for f := range s.All() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, f.String()...)
	}
	return dst
}

// String returns the text that AppendTo appends.
func (s Flags) String() string { return string(s.AppendTo(nil)) }

// An Action says what normalization did about a defect. The zero Action is
// ActionKept.
type Action uint8

// The actions.
const (
	ActionKept     Action = iota // the normal form contains it unchanged
	ActionEncoded                // its bytes were escaped
	ActionDecoded                // the escape was replaced by its byte
	ActionRemoved                // its bytes were removed
	ActionRecased                // only the case of its hex digits changed
	ActionRejected               // the defect is the reason why the URL cannot be parsed
	ActionReplaced               // the defect was replaced by other text
)

var actionNames = []string{"kept", "encoded", "decoded", "removed", "recased", "rejected", "replaced"}

// String returns the name used in output, such as "encoded", or "unknown".
func (a Action) String() string { return nameOf(a, actionNames) }

// A Diagnostic reports one defect: its flag, its offset, and what was done
// about it. It is 8 bytes long and contains no pointer.
type Diagnostic struct {
	At        uint32 // offset in src of the defect's first byte
	Flag      Flag
	Component Component
	Action    Action
	Info      uint8 // FlagDoubleEncoded only: how many decodings leave an escape, in the low 6 bits; WouldBeUTF8, WouldDelimit
}

// Bits of Diagnostic.Info above the low 6 bits.
const (
	WouldBeUTF8  = percent.WouldBeUTF8  // fully decoded, the bytes are valid UTF-8
	WouldDelimit = percent.WouldDelimit // fully decoded, one of the bytes is a delimiter
)
