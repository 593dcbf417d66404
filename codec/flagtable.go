package codec

// A Severity says what a flag means for the URL that has it.
type Severity uint8

// The severities.
const (
	Notice          Severity = iota // allowed, and worth knowing
	ValidationError                 // an error by the URL Standard, with which parsing goes on or ends (https://url.spec.whatwg.org/#writing)
	Violation                       // something that the grammar of RFC 3986 does not allow
)

var severityNames = []string{"notice", "validation-error", "violation"}

// String returns the severity's name: "violation".
func (s Severity) String() string { return nameOf(s, severityNames) }

// Flags returns the set of the flags that have the severity.
func (s Severity) Flags() Flags { return severityFlags[min(s, Violation)] }

var severityFlags = func() (sets [Violation + 1]Flags) {
	for f := range Flag(numFlags) {
		s := flagTable[f].severity
		sets[s] = sets[s].With(f)
	}
	return sets
}()

var violations = Violation.Flags()

// flagTable is all that is known about each flag.
var flagTable = [numFlags]struct {
	name     string
	severity Severity
	clause   string // what says so; empty if it is an observation of ours
	meaning  string // one sentence without its full stop
}{
	Truncated:                            {"truncated", Violation, "RFC 3986 §2.1", "a '%' at the end of a component, with fewer than two characters after it"},
	NonHex:                               {"non-hex", Violation, "RFC 3986 §2.1", "a '%' that is not followed by two hex digits starts no escape"},
	PercentU:                             {"percent-u", Violation, "RFC 3986 §2.1", "%uXXXX is an escape of old JavaScript, and in no standard of URLs"},
	NUL:                                  {"nul", Notice, "RFC 3986 §7.3", "the escape %00 stands for a NUL byte, which ends strings in many programs"},
	Control:                              {"control", Notice, "RFC 3986 §7.3", "an escape stands for a control byte"},
	BadUTF8:                              {"bad-utf8", Notice, "RFC 3629 §3", "escapes stand for bytes that are not UTF-8, such as text in another charset"},
	OverlongUTF8:                         {"overlong-utf8", Notice, "RFC 3629 §3, §10", "a complete sequence of escapes spells a character with more bytes than UTF-8 allows, a way around filters"},
	SurrogateUTF8:                        {"surrogate-utf8", Notice, "RFC 3629 §3", "a complete sequence of escapes spells half of a UTF-16 pair, which UTF-8 does not allow"},
	Noncharacter:                         {"noncharacter", Notice, "Unicode §23.7", "escapes stand for a code point that Unicode has set aside as no character"},
	DoubleEncoded:                        {"double-encoded", Notice, "RFC 3986 §2.4", "an escape was escaped again: %25 and two hex digits"},
	EncodedTraversal:                     {"encoded-traversal", Notice, "RFC 3986 §7.3", "'..' next to an escaped slash: no dot segment here, but one for a server that decodes first"},
	LowerHex:                             {"lower-hex", Notice, "RFC 3986 §6.2.2.1", "an escape with lower-case hex digits; the normal form has upper case"},
	NeedlessEscape:                       {"needless-escape", Notice, "RFC 3986 §6.2.2.2", "an escape of a character that needs none"},
	RawControl:                           {"raw-control", Violation, "RFC 3986 §2", "a control byte as such"},
	RawSpace:                             {"raw-space", Violation, "RFC 3986 §2", "a space as such"},
	RawNonASCII:                          {"raw-non-ascii", Violation, "RFC 3986 §2", "a byte beyond ASCII as such"},
	RawBackslash:                         {"raw-backslash", Violation, "RFC 3986 §2, WHATWG URL §4.4", "a backslash, which browsers read as '/' and RFC 3986 does not allow"},
	RawIllegal:                           {"raw-illegal", Violation, "RFC 3986 §2", "a character that may not stand here as such"},
	IPv4Nonstandard:                      {"ipv4-nonstandard", Notice, "RFC 3986 §7.4", "an IPv4 address in hex, octal or short form: a name by the RFC, an address for many resolvers"},
	IPLiteralBad:                         {"ip-literal-bad", Violation, "RFC 3986 §3.2.2", "brackets around something that is no IP address"},
	HostNotLDH:                           {"host-not-ldh", Notice, "RFC 1123 §2.1", "a host with something else than letters, digits, hyphens and dots"},
	IDNAInvalid:                          {"idna-invalid", Notice, "UTS 46 §4", "a domain whose characters or 'xn--' labels UTS 46 does not allow"},
	ZoneID:                               {"zone-id", Violation, "RFC 9844", "an IPv6 address with a zone, which means something on one machine only"},
	HostAmbiguous:                        {"host-ambiguous", Notice, "RFC 3986 §7.6, WHATWG URL §4.4", "browsers and RFC 3986 see different hosts"},
	PortInvalid:                          {"port-invalid", ValidationError, "RFC 3986 §3.2.3", "what should be a port is not a number from 0 to 65535"},
	HostMissing:                          {"host-missing", ValidationError, "RFC 9110 §4.2.1", "a web URL has no host"},
	SchemeInvalid:                        {"scheme-invalid", Violation, "RFC 3986 §4.2", "text before the first ':' that is no scheme"},
	Credentials:                          {"credentials", Notice, "RFC 3986 §3.2.1, §7.5", "a username or a password is in the URL"},
	Relative:                             {"relative", Notice, "RFC 3986 §4.2", "no scheme: the URL is relative, and means something only with a base"},
	DotSegments:                          {"dot-segments", Notice, "RFC 3986 §5.2.4", "the path has a '.' or '..' segment"},
	HTMLEntity:                           {"html-entity", Notice, "HTML §13.5", "'&amp;' in the query: a URL taken out of HTML without decoding it"},
	FragmentInRequest:                    {"fragment-in-request", Notice, "RFC 9110 §7.1", "a '#' in a request target, which should never reach a server"},
	SchemeGuessed:                        {"scheme-guessed", Notice, "", "the scheme was not there, and was put in front because the options say so"},
	TrimmedEnds:                          {"trimmed-ends", Notice, "WHATWG URL §4.4", "spaces or control bytes at either end, which browsers cut off"},
	TabOrNewline:                         {"tab-or-newline", Notice, "WHATWG URL §4.4", "tabs or line breaks inside, which browsers take out"},
	SignedURL:                            {"signed-url", Notice, "", "the query carries a signature, so no key rule touches it"},
	WHATWGReject:                         {"whatwg-reject", Notice, "WHATWG URL §4.4", "browsers have no reading of this URL; it was read by RFC 3986"},
	DomainToASCII:                        {"domain-to-ASCII", ValidationError, "WHATWG URL §3.3", "a domain that breaks the strict rules for registered names"},
	DomainPercentEncoded:                 {"domain-percent-encoded", ValidationError, "WHATWG URL §3.5", "an escape in a domain, which is decoded before the name is looked up"},
	HostInvalidCodePoint:                 {"host-invalid-code-point", ValidationError, "WHATWG URL §3.5", "a host of a scheme that is not special has a forbidden character"},
	IPv4NonASCIIInput:                    {"IPv4-non-ASCII-input", ValidationError, "WHATWG URL §3.5", "an IPv4 address in characters beyond ASCII, such as full-width digits"},
	IPv4EmptyPart:                        {"IPv4-empty-part", ValidationError, "WHATWG URL §3.5", "a dot at the end of an IPv4 address"},
	IPv4TooFewParts:                      {"IPv4-too-few-parts", ValidationError, "WHATWG URL §3.5", "an IPv4 address in short form, with fewer than four numbers"},
	IPv4TooManyParts:                     {"IPv4-too-many-parts", ValidationError, "WHATWG URL §3.5", "a host that ends in a number is an IPv4 address, and has more than four parts"},
	IPv4NonNumericPart:                   {"IPv4-non-numeric-part", ValidationError, "WHATWG URL §3.5", "a host that ends in a number is an IPv4 address, and has a part that is no number"},
	IPv4NonDecimalPart:                   {"IPv4-non-decimal-part", ValidationError, "WHATWG URL §3.5", "a number of an IPv4 address is in hex or octal"},
	IPv4OutOfRangePart:                   {"IPv4-out-of-range-part", ValidationError, "WHATWG URL §3.5", "a number of an IPv4 address is above 255"},
	IPv6Unclosed:                         {"IPv6-unclosed", ValidationError, "WHATWG URL §3.5", "'[' opens an IPv6 address, and no ']' closes it"},
	IPv6InvalidCompression:               {"IPv6-invalid-compression", ValidationError, "WHATWG URL §3.5", "an IPv6 address begins with a single ':'"},
	IPv6TooManyPieces:                    {"IPv6-too-many-pieces", ValidationError, "WHATWG URL §3.5", "an IPv6 address with more than eight pieces"},
	IPv6MultipleCompression:              {"IPv6-multiple-compression", ValidationError, "WHATWG URL §3.5", "'::' stands twice in an IPv6 address"},
	IPv6InvalidCodePoint:                 {"IPv6-invalid-code-point", ValidationError, "WHATWG URL §3.5", "an IPv6 address has something else than hex digits and ':', or ends too early"},
	IPv6TooFewPieces:                     {"IPv6-too-few-pieces", ValidationError, "WHATWG URL §3.5", "an IPv6 address with fewer than eight pieces and no '::'"},
	IPv6PieceLeadingZero:                 {"IPv6-piece-leading-zero", ValidationError, "WHATWG URL §3.5", "a piece of an IPv6 address begins with a zero that it does not need"},
	IPv4InIPv6TooManyPieces:              {"IPv4-in-IPv6-too-many-pieces", ValidationError, "WHATWG URL §3.5", "no room is left in the IPv6 address for the IPv4 address at its end"},
	IPv4InIPv6InvalidCodePoint:           {"IPv4-in-IPv6-invalid-code-point", ValidationError, "WHATWG URL §3.5", "the IPv4 address in an IPv6 address is not four plain decimal numbers"},
	IPv4InIPv6OutOfRangePart:             {"IPv4-in-IPv6-out-of-range-part", ValidationError, "WHATWG URL §3.5", "the IPv4 address in an IPv6 address has a number above 255"},
	IPv4InIPv6TooFewParts:                {"IPv4-in-IPv6-too-few-parts", ValidationError, "WHATWG URL §3.5", "the IPv4 address in an IPv6 address has fewer than four numbers"},
	InvalidURLUnit:                       {"invalid-URL-unit", ValidationError, "WHATWG URL §4.3, §4.4", "a character that browsers accept here, though no valid URL has it"},
	SpecialSchemeMissingFollowingSolidus: {"special-scheme-missing-following-solidus", ValidationError, "WHATWG URL §4.4", "the scheme of a web or file URL without '//' behind it"},
	MissingSchemeNonRelativeURL:          {"missing-scheme-non-relative-URL", ValidationError, "WHATWG URL §4.4", "there is no scheme, and no base that could give one"},
	InvalidReverseSolidus:                {"invalid-reverse-solidus", ValidationError, "WHATWG URL §4.4", "a backslash where browsers take it for a slash"},
	InvalidCredentials:                   {"invalid-credentials", ValidationError, "WHATWG URL §4.4", "a username or a password, which no valid URL has"},
	PortOutOfRange:                       {"port-out-of-range", ValidationError, "WHATWG URL §4.4", "a port above 65535"},
	FileInvalidWindowsDriveLetter:        {"file-invalid-Windows-drive-letter", ValidationError, "WHATWG URL §4.4", "a reference to a drive of Windows, against the base of a file URL"},
	FileInvalidWindowsDriveLetterHost:    {"file-invalid-Windows-drive-letter-host", ValidationError, "WHATWG URL §4.4", "a drive of Windows where a file URL has its host"},
	EmptyPair:                            {"empty-pair", Notice, "URL Standard §5.1", "the query has a field without name and value: '&&', or a '&' at one of its ends"},
	ParamStyle:                           {"param-style", Notice, "OpenAPI 3.1.1 §4.8.12", "a parameter is not written in the style that is declared for it"},
	DiagnosticsDropped:                   {"diagnostics-dropped", Notice, "", "there are more places than are recorded"},
}
