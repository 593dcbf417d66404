package codec

import (
	"iter"
	"math/bits"
	"strings"
)

// A Flag is one thing worth knowing about a URL as it came in. Flags describe
// the input; they never make a call fail. The names are stable, the numbers are
// not: store names.
type Flag uint8

// The flags.
const (
	// Escapes. Each has a mark at its '%'.
	Truncated        Flag = iota // '%' or "%4" at the end of a component
	NonHex                       // '%' not followed by two hex digits
	PercentU                     // "%u0041", an escape in no standard
	NUL                          // %00
	Control                      // %01 to %1F, %7F
	BadUTF8                      // escapes that are not UTF-8
	OverlongUTF8                 // %C0%AF: a complete sequence, longer than UTF-8 allows
	SurrogateUTF8                // %ED%A0%80: a complete sequence for half of a UTF-16 pair
	Noncharacter                 // %EF%BF%BF: U+FFFF and its like
	DoubleEncoded                // %2541: an escaped escape
	EncodedTraversal             // "..%2F", "%2e%2e%2f" in a path
	LowerHex                     // %2f, whose normal form is %2F
	NeedlessEscape               // %41: an unreserved byte

	// Raw bytes that the grammar of RFC 3986 does not allow where they stand.
	RawControl   // 00 to 1F, 7F
	RawSpace     // 20
	RawNonASCII  // 80 to FF
	RawBackslash // '\'
	RawIllegal   // any other

	// The host.
	IPv4Nonstandard // an IPv4 address in hex, octal or short form, which many resolvers accept
	IPLiteralBad    // brackets around something that is no IP literal
	HostNotLDH      // a name with something else than letters, digits, hyphens and dots
	IDNAInvalid     // a domain with characters or "xn--" labels that UTS 46 does not allow
	ZoneID          // [fe80::1%25eth0], RFC 6874 (withdrawn by RFC 9844)
	HostAmbiguous   // browsers and RFC 3986 see different hosts, of the URL or of its base: hosts.go
	PortInvalid     // text after the last ':' of the host that is no port, or one above 65535
	HostMissing     // an http URL without a host

	// The grammar as a whole.
	SchemeInvalid // text before the first ':' that is no scheme (RFC 3986 §4.2)

	// Allowed, but telling.
	Credentials       // a username or a password
	Relative          // no scheme, and no base that gave one
	DotSegments       // "." or ".." in the path, raw or escaped
	HTMLEntity        // "&amp;" in the query
	FragmentInRequest // a '#' in a request target, which should never reach a server
	SchemeGuessed     // a scheme was put in front because the configuration said so

	// What was done before parsing (https://url.spec.whatwg.org/#concept-basic-url-parser).
	TrimmedEnds  // C0 controls or spaces cut off at either end
	TabOrNewline // tabs or newlines taken out
	SignedURL    // the query is signed: no rule touches it
	WHATWGReject // browsers have no reading of the URL; it was read by RFC 3986

	// The validation errors of the WHATWG URL Standard, by its names and in its
	// order (https://url.spec.whatwg.org/#writing). HostMissing and PortInvalid
	// stand above.
	DomainToASCII
	DomainPercentEncoded
	HostInvalidCodePoint
	IPv4NonASCIIInput // of days after the snapshot
	IPv4EmptyPart
	IPv4TooFewParts
	IPv4TooManyParts
	IPv4NonNumericPart
	IPv4NonDecimalPart
	IPv4OutOfRangePart
	IPv6Unclosed
	IPv6InvalidCompression
	IPv6TooManyPieces
	IPv6MultipleCompression
	IPv6InvalidCodePoint
	IPv6TooFewPieces
	IPv6PieceLeadingZero
	IPv4InIPv6TooManyPieces
	IPv4InIPv6InvalidCodePoint
	IPv4InIPv6OutOfRangePart
	IPv4InIPv6TooFewParts
	InvalidURLUnit
	SpecialSchemeMissingFollowingSolidus
	MissingSchemeNonRelativeURL
	InvalidReverseSolidus
	InvalidCredentials
	PortOutOfRange
	FileInvalidWindowsDriveLetter
	FileInvalidWindowsDriveLetterHost

	// Parameters. Package record looks for both; the codec, which reads none, for neither.
	EmptyPair  // "&&" in a query, or a '&' at one of its ends: a field without name and value
	ParamStyle // a parameter is not written in the style that was declared for it

	DiagnosticsDropped // there were more marks than Profile.MaxDiagnostics

	numFlags = iota
)

// String returns the flag's name as it appears in output: "non-hex".
func (f Flag) String() string {
	if int(f) < len(flagTable) {
		return flagTable[f].name
	}
	return "unknown"
}

// Severity says what the flag means for a URL.
func (f Flag) Severity() Severity { return flagTable[f].severity }

// Clause returns what the flag goes by, "RFC 3986 §2.1", or nothing if it is an
// observation of this package.
func (f Flag) Clause() string { return flagTable[f].clause }

// Meaning returns a sentence, without its full stop, about what the flag means.
func (f Flag) Meaning() string { return flagTable[f].meaning }

// ParseFlag returns the flag of that name.
func ParseFlag(name string) (Flag, error) {
	for f := range flagTable {
		if flagTable[f].name == name {
			return Flag(f), nil
		}
	}
	return 0, &NameError{"flag", name}
}

// Flags is a set of flags. The zero Flags is empty. Sets can be compared with ==.
type Flags struct{ lo, hi uint64 }

// AllFlags returns the set of all flags.
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
	if f < 64 {
		s.lo |= 1 << f
	} else {
		s.hi |= 1 << (f & 63)
	}
	return s
}

// Union returns the flags that are in s, in o, or in both.
func (s Flags) Union(o Flags) Flags { return Flags{s.lo | o.lo, s.hi | o.hi} }

// Without returns the set with f taken out.
func (s Flags) Without(f Flag) Flags {
	o := Flags{}.With(f)
	return Flags{s.lo &^ o.lo, s.hi &^ o.hi}
}

// Intersect returns the flags that are both in s and in o.
func (s Flags) Intersect(o Flags) Flags { return Flags{s.lo & o.lo, s.hi & o.hi} }

// IsZero reports whether the set is empty.
func (s Flags) IsZero() bool { return s.lo|s.hi == 0 }

// Len returns how many flags are in the set.
func (s Flags) Len() int { return bits.OnesCount64(s.lo) + bits.OnesCount64(s.hi) }

// All yields the flags of the set in their order.
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

// Names returns the names of the flags in the set, in their order.
func (s Flags) Names() []string {
	names := make([]string, 0, s.Len())
	for f := range s.All() {
		names = append(names, f.String())
	}
	return names
}

// AppendTo appends the names of the flags in the set, in their order, separated
// by commas.
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

// String returns what AppendTo appends.
func (s Flags) String() string { return string(s.AppendTo(nil)) }

// ParseFlags returns the set of the flags with these names, which are separated by
// commas: "nul,raw-space". The error is a *NameError about the first name that is
// no flag's.
func ParseFlags(text string) (Flags, error) {
	var s Flags
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			continue
		}
		f, err := ParseFlag(name)
		if err != nil {
			return Flags{}, err
		}
		s = s.With(f)
	}
	return s, nil
}

// An Action says what was done about a defect.
type Action uint8

// The actions.
const (
	Kept     Action = iota // it stands in the normal form as it came
	Encoded                // its bytes were escaped
	Decoded                // the escape was replaced by its byte
	Removed                // its bytes were left out
	Recased                // only the case of its hex digits changed
	Rejected               // it is the reason why the URL has no reading
	Replaced               // something else stands in its place
)

var actionNames = []string{"kept", "encoded", "decoded", "removed", "recased", "rejected", "replaced"}

// String returns the action's name as it appears in output: "encoded".
func (a Action) String() string { return nameOf(a, actionNames) }

// ParseAction returns the action of that name.
func ParseAction(name string) (Action, error) { return parseName[Action]("action", name, actionNames) }

// A Diagnostic is the place of one defect: 8 bytes, no pointer.
type Diagnostic struct {
	At        uint32 // offset of its first byte in src
	Flag      Flag
	Component Component
	Action    Action
	Info      uint8 // DoubleEncoded: depth (low 6 bits), WouldBeUTF8, WouldDelimit
}

// The bits of Diagnostic.Info beside the depth.
const (
	WouldBeUTF8  = 1 << 6 // decoded as often as it goes, the bytes are valid UTF-8
	WouldDelimit = 1 << 7 // decoded as often as it goes, a byte is a delimiter
)
