package codec

// A Severity classifies flags. The zero Severity is Notice.
type Severity uint8

// The severities.
const (
	Notice          Severity = iota // allowed, but notable
	ValidationError                 // a validation error of the URL Standard, which may or may not end parsing (https://url.spec.whatwg.org/#writing)
	Violation                       // not allowed by the grammar of RFC 3986
)

var severityNames = []string{"notice", "validation-error", "violation"}

// String returns the name used in output, such as "violation", or "unknown".
func (s Severity) String() string { return nameOf(s, severityNames) }

// Flags returns the set of the flags with this severity.
func (s Severity) Flags() Flags { return severityFlags[min(s, Violation)] }

var severityFlags = func() (sets [Violation + 1]Flags) {
	for f := range Flag(numFlags) {
		s := flagTable[f].severity
		sets[s] = sets[s].With(f)
	}
	return sets
}()

var violations = Violation.Flags()

// flagTable describes each flag.
var flagTable = [numFlags]struct {
	name     string
	severity Severity
	clause   string // basis in a standard; empty if the flag is an observation of ours
	meaning  string // a description in lower case without a full stop
}{
	Truncated:                            {"truncated", Violation, "RFC 3986 §2.1", "a '%' at the end of a component, with fewer than two characters after it"},
	NonHex:                               {"non-hex", Violation, "RFC 3986 §2.1", "a '%' without two hex digits after it, which does not start an escape"},
	PercentU:                             {"percent-u", Violation, "RFC 3986 §2.1", "%uXXXX, an escape that old JavaScript code writes and no URL standard defines"},
	NUL:                                  {"nul", Notice, "RFC 3986 §7.3", "%00, the escape of a NUL byte, which ends strings in many programs"},
	Control:                              {"control", Notice, "RFC 3986 §7.3", "an escape of a control byte"},
	BadUTF8:                              {"bad-utf8", Notice, "RFC 3629 §3", "escapes of bytes that are not valid UTF-8, such as text in another encoding"},
	OverlongUTF8:                         {"overlong-utf8", Notice, "RFC 3629 §3, §10", "escapes of a complete sequence that encodes a character in more bytes than UTF-8 allows, which can bypass filters"},
	SurrogateUTF8:                        {"surrogate-utf8", Notice, "RFC 3629 §3", "escapes of a complete sequence that encodes a UTF-16 surrogate, which UTF-8 does not allow"},
	Noncharacter:                         {"noncharacter", Notice, "Unicode §23.7", "escapes of a code point that Unicode reserves as a noncharacter"},
	DoubleEncoded:                        {"double-encoded", Notice, "RFC 3986 §2.4", "an escape that was escaped again: %25 followed by two hex digits"},
	EncodedTraversal:                     {"encoded-traversal", Notice, "RFC 3986 §7.3", "'..' next to an escaped slash: not a dot segment, but a server that decodes the path first sees one"},
	LowerHex:                             {"lower-hex", Notice, "RFC 3986 §6.2.2.1", "an escape with lower-case hex digits; the normal form has upper-case digits"},
	NeedlessEscape:                       {"needless-escape", Notice, "RFC 3986 §6.2.2.2", "an escape of a character that needs no escape"},
	RawControl:                           {"raw-control", Violation, "RFC 3986 §2", "an unescaped control byte"},
	RawSpace:                             {"raw-space", Violation, "RFC 3986 §2", "an unescaped space"},
	RawNonASCII:                          {"raw-non-ascii", Violation, "RFC 3986 §2", "an unescaped non-ASCII byte"},
	RawBackslash:                         {"raw-backslash", Violation, "RFC 3986 §2, WHATWG URL §4.4", "an unescaped backslash, which browsers treat as '/' and RFC 3986 does not allow"},
	RawIllegal:                           {"raw-illegal", Violation, "RFC 3986 §2", "an unescaped character that is not allowed here"},
	IPv4Nonstandard:                      {"ipv4-nonstandard", Notice, "RFC 3986 §7.4", "an IPv4 address in hex, octal or short form: RFC 3986 treats it as a name, but many resolvers treat it as an address"},
	IPLiteralBad:                         {"ip-literal-bad", Violation, "RFC 3986 §3.2.2", "brackets around text that is not an IP address"},
	HostNotLDH:                           {"host-not-ldh", Notice, "RFC 1123 §2.1", "a host with characters other than letters, digits, hyphens and dots"},
	IDNAInvalid:                          {"idna-invalid", Notice, "UTS 46 §4", "a domain with characters or 'xn--' labels that UTS 46 does not allow"},
	ZoneID:                               {"zone-id", Violation, "RFC 9844", "an IPv6 address with a zone identifier, which has a meaning on one machine only"},
	HostAmbiguous:                        {"host-ambiguous", Notice, "RFC 3986 §7.6, WHATWG URL §4.4", "a URL in which browsers and RFC 3986 find different hosts"},
	PortInvalid:                          {"port-invalid", ValidationError, "RFC 3986 §3.2.3", "a port that is not a number from 0 to 65535"},
	HostMissing:                          {"host-missing", ValidationError, "RFC 9110 §4.2.1", "a web URL without a host"},
	SchemeInvalid:                        {"scheme-invalid", Violation, "RFC 3986 §4.2", "text before the first ':' that is not a valid scheme"},
	Credentials:                          {"credentials", Notice, "RFC 3986 §3.2.1, §7.5", "a username or a password in the URL"},
	Relative:                             {"relative", Notice, "RFC 3986 §4.2", "a URL without a scheme, which is relative to a base"},
	DotSegments:                          {"dot-segments", Notice, "RFC 3986 §5.2.4", "a '.' or '..' segment in the path"},
	HTMLEntity:                           {"html-entity", Notice, "HTML §13.5", "'&amp;' in the query: the URL was probably copied from HTML without decoding it"},
	FragmentInRequest:                    {"fragment-in-request", Notice, "RFC 9110 §7.1", "a '#' in a request target, where clients must not send one"},
	SchemeGuessed:                        {"scheme-guessed", Notice, "", "a request with a host but no scheme: http was assumed"},
	TrimmedEnds:                          {"trimmed-ends", Notice, "WHATWG URL §4.4", "leading or trailing spaces or control bytes, which browsers remove"},
	TabOrNewline:                         {"tab-or-newline", Notice, "WHATWG URL §4.4", "tabs or line breaks, which browsers remove"},
	SignedURL:                            {"signed-url", Notice, "", "a signature in the query: no key rule changes the query"},
	WHATWGReject:                         {"whatwg-reject", Notice, "WHATWG URL §4.4", "a URL that browsers cannot parse; it was parsed by RFC 3986 instead"},
	DomainToASCII:                        {"domain-to-ASCII", ValidationError, "WHATWG URL §3.3", "a domain that violates the strict rules for registered names"},
	DomainPercentEncoded:                 {"domain-percent-encoded", ValidationError, "WHATWG URL §3.5", "an escape in a domain; browsers decode it before they look up the name"},
	HostInvalidCodePoint:                 {"host-invalid-code-point", ValidationError, "WHATWG URL §3.5", "a forbidden character in the host of a URL whose scheme is not special"},
	IPv4NonASCIIInput:                    {"IPv4-non-ASCII-input", ValidationError, "WHATWG URL §3.5", "an IPv4 address in characters beyond ASCII, such as full-width digits"},
	IPv4EmptyPart:                        {"IPv4-empty-part", ValidationError, "WHATWG URL §3.5", "a dot at the end of an IPv4 address"},
	IPv4TooFewParts:                      {"IPv4-too-few-parts", ValidationError, "WHATWG URL §3.5", "an IPv4 address in short form, with fewer than four numbers"},
	IPv4TooManyParts:                     {"IPv4-too-many-parts", ValidationError, "WHATWG URL §3.5", "a host that ends in a number, which makes it an IPv4 address, and has more than four parts"},
	IPv4NonNumericPart:                   {"IPv4-non-numeric-part", ValidationError, "WHATWG URL §3.5", "a host that ends in a number, which makes it an IPv4 address, and has a part that is not a number"},
	IPv4NonDecimalPart:                   {"IPv4-non-decimal-part", ValidationError, "WHATWG URL §3.5", "an IPv4 address with a number in hex or octal"},
	IPv4OutOfRangePart:                   {"IPv4-out-of-range-part", ValidationError, "WHATWG URL §3.5", "an IPv4 address with a number above 255"},
	IPv6Unclosed:                         {"IPv6-unclosed", ValidationError, "WHATWG URL §3.5", "an IPv6 address without the closing ']'"},
	IPv6InvalidCompression:               {"IPv6-invalid-compression", ValidationError, "WHATWG URL §3.5", "an IPv6 address that begins with a single ':'"},
	IPv6TooManyPieces:                    {"IPv6-too-many-pieces", ValidationError, "WHATWG URL §3.5", "an IPv6 address with more than eight pieces"},
	IPv6MultipleCompression:              {"IPv6-multiple-compression", ValidationError, "WHATWG URL §3.5", "an IPv6 address with more than one '::'"},
	IPv6InvalidCodePoint:                 {"IPv6-invalid-code-point", ValidationError, "WHATWG URL §3.5", "an IPv6 address that contains characters other than hex digits and ':', or ends too early"},
	IPv6TooFewPieces:                     {"IPv6-too-few-pieces", ValidationError, "WHATWG URL §3.5", "an IPv6 address with fewer than eight pieces and no '::'"},
	IPv6PieceLeadingZero:                 {"IPv6-piece-leading-zero", ValidationError, "WHATWG URL §3.5", "a piece of an IPv6 address with an unnecessary leading zero"},
	IPv4InIPv6TooManyPieces:              {"IPv4-in-IPv6-too-many-pieces", ValidationError, "WHATWG URL §3.5", "an IPv6 address with no room left for the IPv4 address at its end"},
	IPv4InIPv6InvalidCodePoint:           {"IPv4-in-IPv6-invalid-code-point", ValidationError, "WHATWG URL §3.5", "an IPv6 address whose IPv4 part is not four plain decimal numbers"},
	IPv4InIPv6OutOfRangePart:             {"IPv4-in-IPv6-out-of-range-part", ValidationError, "WHATWG URL §3.5", "an IPv6 address whose IPv4 part has a number above 255"},
	IPv4InIPv6TooFewParts:                {"IPv4-in-IPv6-too-few-parts", ValidationError, "WHATWG URL §3.5", "an IPv6 address whose IPv4 part has fewer than four numbers"},
	InvalidURLUnit:                       {"invalid-URL-unit", ValidationError, "WHATWG URL §4.3, §4.4", "a character that is not allowed here in a valid URL, although browsers accept it"},
	SpecialSchemeMissingFollowingSolidus: {"special-scheme-missing-following-solidus", ValidationError, "WHATWG URL §4.4", "the scheme of a web or file URL without '//' after it"},
	MissingSchemeNonRelativeURL:          {"missing-scheme-non-relative-URL", ValidationError, "WHATWG URL §4.4", "a URL without a scheme and without a base"},
	InvalidReverseSolidus:                {"invalid-reverse-solidus", ValidationError, "WHATWG URL §4.4", "a backslash that browsers treat as a slash"},
	InvalidCredentials:                   {"invalid-credentials", ValidationError, "WHATWG URL §4.4", "a username or a password, which a valid URL must not contain"},
	PortOutOfRange:                       {"port-out-of-range", ValidationError, "WHATWG URL §4.4", "a port above 65535"},
	FileInvalidWindowsDriveLetter:        {"file-invalid-Windows-drive-letter", ValidationError, "WHATWG URL §4.4", "a relative URL that begins with a Windows drive letter, resolved against a file URL"},
	FileInvalidWindowsDriveLetterHost:    {"file-invalid-Windows-drive-letter-host", ValidationError, "WHATWG URL §4.4", "a Windows drive letter in place of the host of a file URL"},
	EmptyPair:                            {"empty-pair", Notice, "URL Standard §5.1", "an empty field in the query: '&&', or '&' at its start or end"},
	ParamStyle:                           {"param-style", Notice, "OpenAPI 3.1.1 §4.8.12", "a parameter that is not in its declared style"},
	MaybeTruncated:                       {"maybe-truncated", Notice, "", "a URL whose end the log may have cut, so it has no key"},
	QueryStripped:                        {"query-stripped", Notice, "", "an empty query in a log that removes queries and leaves the '?'"},
	RecordOmitted:                        {"record-omitted", Notice, "", "a URL whose field record is empty, because the record has so many URLs that their output would pass --max-expansion"},
	DiagnosticsDropped:                   {"diagnostics-dropped", Notice, "", "a URL with more diagnostics than urlfold records"},
}
