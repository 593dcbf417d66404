package codec

// A Severity classifies flags. The zero Severity is Notice.
type Severity uint8

// The severities.
const (
	SeverityNotice          Severity = iota // allowed, but notable
	SeverityValidationError                 // a validation error of the URL Standard, which may or may not end parsing (https://url.spec.whatwg.org/#writing)
	SeverityViolation                       // not allowed by the grammar of RFC 3986
)

var severityNames = []string{"notice", "validation-error", "violation"}

// String returns the name used in output, such as "violation", or "unknown".
func (s Severity) String() string { return nameOf(s, severityNames) }

// MarshalText implements encoding.TextMarshaler.
func (s Severity) MarshalText() ([]byte, error) { return textOf("severity", s.String()) }

// Flags returns the set of the flags with this severity.
func (s Severity) Flags() Flags { return severityFlags[min(s, SeverityViolation)] }

var severityFlags = func() (sets [SeverityViolation + 1]Flags) {
	for f := range Flag(numFlags) {
		s := flagTable[f].severity
		sets[s] = sets[s].With(f)
	}
	return sets
}()

var violations = SeverityViolation.Flags()

// flagTable describes each flag.
var flagTable = [numFlags]struct {
	name     string
	severity Severity
	clause   string // basis in a standard; empty if no standard mentions the flag
	meaning  string // a description in lower case without a full stop
}{
	FlagTruncated:                            {"truncated", SeverityViolation, "RFC 3986 §2.1", "a '%' at the end of a component, with fewer than two characters after it"},
	FlagNonHex:                               {"non-hex", SeverityViolation, "RFC 3986 §2.1", "a '%' without two hex digits after it, which does not start an escape"},
	FlagPercentU:                             {"percent-u", SeverityViolation, "RFC 3986 §2.1", "%uXXXX, an escape that old JavaScript code writes and no URL standard defines"},
	FlagNUL:                                  {"nul", SeverityNotice, "RFC 3986 §7.3", "%00, the escape of a NUL byte, which ends strings in many programs"},
	FlagControl:                              {"control", SeverityNotice, "RFC 3986 §7.3", "an escape of a control byte"},
	FlagBadUTF8:                              {"bad-utf8", SeverityNotice, "RFC 3629 §3", "escapes of bytes that are not valid UTF-8, such as text in another encoding"},
	FlagOverlongUTF8:                         {"overlong-utf8", SeverityNotice, "RFC 3629 §3, §10", "escapes of a complete sequence that encodes a character in more bytes than UTF-8 allows, which can bypass filters"},
	FlagSurrogateUTF8:                        {"surrogate-utf8", SeverityNotice, "RFC 3629 §3", "escapes of a complete sequence that encodes a UTF-16 surrogate, which UTF-8 does not allow"},
	FlagNoncharacter:                         {"noncharacter", SeverityNotice, "Unicode §23.7", "escapes of a code point that Unicode reserves as a noncharacter"},
	FlagDoubleEncoded:                        {"double-encoded", SeverityNotice, "RFC 3986 §2.4", "an escape that was escaped again: %25 followed by two hex digits"},
	FlagEncodedTraversal:                     {"encoded-traversal", SeverityNotice, "RFC 3986 §7.3", "'..' next to an escaped slash: not a dot segment, but it becomes one on a server that decodes the path before it removes dot segments"},
	FlagLowerHex:                             {"lower-hex", SeverityNotice, "RFC 3986 §6.2.2.1", "an escape with lower-case hex digits; the normal form has upper-case digits"},
	FlagNeedlessEscape:                       {"needless-escape", SeverityNotice, "RFC 3986 §6.2.2.2", "an escape of a character that needs no escape"},
	FlagRawControl:                           {"raw-control", SeverityViolation, "RFC 3986 §2", "an unescaped control byte"},
	FlagRawSpace:                             {"raw-space", SeverityViolation, "RFC 3986 §2", "an unescaped space"},
	FlagRawNonASCII:                          {"raw-non-ascii", SeverityViolation, "RFC 3986 §2", "an unescaped non-ASCII byte"},
	FlagRawBackslash:                         {"raw-backslash", SeverityViolation, "RFC 3986 §2, WHATWG URL §4.4", "an unescaped backslash, which browsers treat as '/' and RFC 3986 does not allow"},
	FlagRawIllegal:                           {"raw-illegal", SeverityViolation, "RFC 3986 §2", "an unescaped character that is not allowed here"},
	FlagIPv4Nonstandard:                      {"ipv4-nonstandard", SeverityNotice, "RFC 3986 §7.4", "an IPv4 address in hex, octal or short form: RFC 3986 treats it as a name, but many resolvers treat it as an address"},
	FlagIPLiteralBad:                         {"ip-literal-bad", SeverityViolation, "RFC 3986 §3.2.2", "brackets around text that is not an IP address"},
	FlagHostNotLDH:                           {"host-not-ldh", SeverityNotice, "RFC 1123 §2.1", "a host with characters other than letters, digits, hyphens and dots"},
	FlagIDNAInvalid:                          {"idna-invalid", SeverityNotice, "UTS 46 §4", "a domain with characters or 'xn--' labels that UTS 46 does not allow"},
	FlagZoneID:                               {"zone-id", SeverityViolation, "RFC 9844", "an IPv6 address with a zone identifier, which has a meaning on one machine only"},
	FlagHostAmbiguous:                        {"host-ambiguous", SeverityNotice, "RFC 3986 §7.6, WHATWG URL §4.4", "a URL in which browsers and RFC 3986 find different hosts"},
	FlagPortInvalid:                          {"port-invalid", SeverityValidationError, "RFC 3986 §3.2.3", "a port that is not a number from 0 to 65535"},
	FlagHostMissing:                          {"host-missing", SeverityValidationError, "RFC 9110 §4.2.1", "a web URL without a host"},
	FlagSchemeInvalid:                        {"scheme-invalid", SeverityViolation, "RFC 3986 §4.2", "text before the first ':' that is not a valid scheme"},
	FlagCredentials:                          {"credentials", SeverityNotice, "RFC 3986 §3.2.1, §7.5", "a username or a password in the URL"},
	FlagRelative:                             {"relative", SeverityNotice, "RFC 3986 §4.2", "a URL without a scheme, which is relative to a base"},
	FlagDotSegments:                          {"dot-segments", SeverityNotice, "RFC 3986 §5.2.4", "a '.' or '..' segment in the path"},
	FlagHTMLEntity:                           {"html-entity", SeverityNotice, "HTML §13.5", "'&amp;' in the query: the URL was probably copied from HTML without decoding it"},
	FlagFragmentInRequest:                    {"fragment-in-request", SeverityNotice, "RFC 9110 §7.1", "a '#' in a request target, where clients must not send one"},
	FlagSchemeGuessed:                        {"scheme-guessed", SeverityNotice, "", "a request with a host but no scheme: http was assumed"},
	FlagTrimmedEnds:                          {"trimmed-ends", SeverityNotice, "WHATWG URL §4.4", "leading or trailing spaces or control bytes, which browsers remove"},
	FlagTabOrNewline:                         {"tab-or-newline", SeverityNotice, "WHATWG URL §4.4", "tabs or line breaks, which browsers remove"},
	FlagSignedURL:                            {"signed-url", SeverityNotice, "", "a signature in the query: no key rule changes the query"},
	FlagWHATWGReject:                         {"whatwg-reject", SeverityNotice, "WHATWG URL §4.4", "a URL that browsers cannot parse; it was parsed by RFC 3986 instead"},
	FlagDomainToASCII:                        {"domain-to-ASCII", SeverityValidationError, "WHATWG URL §3.3", "a domain that violates the strict rules for registered names"},
	FlagDomainPercentEncoded:                 {"domain-percent-encoded", SeverityValidationError, "WHATWG URL §3.5", "an escape in a domain; browsers decode it before they look up the name"},
	FlagHostInvalidCodePoint:                 {"host-invalid-code-point", SeverityValidationError, "WHATWG URL §3.5", "a forbidden character in the host of a URL whose scheme is not special"},
	FlagIPv4NonASCIIInput:                    {"IPv4-non-ASCII-input", SeverityValidationError, "WHATWG URL §3.5", "an IPv4 address in characters beyond ASCII, such as full-width digits"},
	FlagIPv4EmptyPart:                        {"IPv4-empty-part", SeverityValidationError, "WHATWG URL §3.5", "a dot at the end of an IPv4 address"},
	FlagIPv4TooFewParts:                      {"IPv4-too-few-parts", SeverityValidationError, "WHATWG URL §3.5", "an IPv4 address in short form, with fewer than four numbers"},
	FlagIPv4TooManyParts:                     {"IPv4-too-many-parts", SeverityValidationError, "WHATWG URL §3.5", "a host that ends in a number, which makes it an IPv4 address, and has more than four parts"},
	FlagIPv4NonNumericPart:                   {"IPv4-non-numeric-part", SeverityValidationError, "WHATWG URL §3.5", "a host that ends in a number, which makes it an IPv4 address, and has a part that is not a number"},
	FlagIPv4NonDecimalPart:                   {"IPv4-non-decimal-part", SeverityValidationError, "WHATWG URL §3.5", "an IPv4 address with a number in hex or octal"},
	FlagIPv4OutOfRangePart:                   {"IPv4-out-of-range-part", SeverityValidationError, "WHATWG URL §3.5", "an IPv4 address with a number above 255"},
	FlagIPv6Unclosed:                         {"IPv6-unclosed", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address without the closing ']'"},
	FlagIPv6InvalidCompression:               {"IPv6-invalid-compression", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address that begins with a single ':'"},
	FlagIPv6TooManyPieces:                    {"IPv6-too-many-pieces", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address with more than eight pieces"},
	FlagIPv6MultipleCompression:              {"IPv6-multiple-compression", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address with more than one '::'"},
	FlagIPv6InvalidCodePoint:                 {"IPv6-invalid-code-point", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address that contains characters other than hex digits and ':', or ends too early"},
	FlagIPv6TooFewPieces:                     {"IPv6-too-few-pieces", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address with fewer than eight pieces and no '::'"},
	FlagIPv6PieceLeadingZero:                 {"IPv6-piece-leading-zero", SeverityValidationError, "WHATWG URL §3.5", "a piece of an IPv6 address with an unnecessary leading zero"},
	FlagIPv4InIPv6TooManyPieces:              {"IPv4-in-IPv6-too-many-pieces", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address with no room left for the IPv4 address at its end"},
	FlagIPv4InIPv6InvalidCodePoint:           {"IPv4-in-IPv6-invalid-code-point", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address whose IPv4 part is not four plain decimal numbers"},
	FlagIPv4InIPv6OutOfRangePart:             {"IPv4-in-IPv6-out-of-range-part", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address whose IPv4 part has a number above 255"},
	FlagIPv4InIPv6TooFewParts:                {"IPv4-in-IPv6-too-few-parts", SeverityValidationError, "WHATWG URL §3.5", "an IPv6 address whose IPv4 part has fewer than four numbers"},
	FlagInvalidURLUnit:                       {"invalid-URL-unit", SeverityValidationError, "WHATWG URL §4.3, §4.4", "a character that is not allowed here in a valid URL, although browsers accept it"},
	FlagSpecialSchemeMissingFollowingSolidus: {"special-scheme-missing-following-solidus", SeverityValidationError, "WHATWG URL §4.4", "the scheme of a web or file URL without '//' after it"},
	FlagMissingSchemeNonRelativeURL:          {"missing-scheme-non-relative-URL", SeverityValidationError, "WHATWG URL §4.4", "a URL without a scheme and without a base"},
	FlagInvalidReverseSolidus:                {"invalid-reverse-solidus", SeverityValidationError, "WHATWG URL §4.4", "a backslash that browsers treat as a slash"},
	FlagInvalidCredentials:                   {"invalid-credentials", SeverityValidationError, "WHATWG URL §4.4", "a username or a password, which a valid URL must not contain"},
	FlagPortOutOfRange:                       {"port-out-of-range", SeverityValidationError, "WHATWG URL §4.4", "a port above 65535"},
	FlagFileInvalidWindowsDriveLetter:        {"file-invalid-Windows-drive-letter", SeverityValidationError, "WHATWG URL §4.4", "a relative URL that begins with a Windows drive letter, resolved against a file URL"},
	FlagFileInvalidWindowsDriveLetterHost:    {"file-invalid-Windows-drive-letter-host", SeverityValidationError, "WHATWG URL §4.4", "a Windows drive letter in place of the host of a file URL"},
	FlagEmptyPair:                            {"empty-pair", SeverityNotice, "URL Standard §5.1", "an empty field in the query: '&&', or '&' at its start or end"},
	FlagParamStyle:                           {"param-style", SeverityNotice, "OpenAPI 3.1.1 §4.8.12", "a parameter that is not in its declared style"},
	FlagMaybeTruncated:                       {"maybe-truncated", SeverityNotice, "", "a URL whose end the log may have cut, so it has no key"},
	FlagQueryStripped:                        {"query-stripped", SeverityNotice, "", "an empty query in a log that removes queries and leaves the '?'"},
	FlagRecordOmitted:                        {"record-omitted", SeverityNotice, "", "a URL whose field record is empty, because the record has so many URLs that their output would pass --max-expansion"},
	FlagDiagnosticsDropped:                   {"diagnostics-dropped", SeverityNotice, "", "a URL with more diagnostics than urlfold records"},
}
