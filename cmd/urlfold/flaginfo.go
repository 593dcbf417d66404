package main

import "github.com/urlfold/urlfold/codec"

// flagInfo is what a flag means, for people.
type flagInfo struct {
	meaning string // one sentence without its full stop
	clause  string // what says so; empty if it is an observation of ours
}

// flagInfos has an entry for every flag of the codec.
var flagInfos = [codec.NumFlags]flagInfo{
	codec.Truncated:        {"a '%' at the end of a component, with fewer than two characters after it", "RFC 3986 §2.1"},
	codec.NonHex:           {"a '%' that is not followed by two hex digits starts no escape", "RFC 3986 §2.1"},
	codec.PercentU:         {"%uXXXX is an escape of old JavaScript, and in no standard of URLs", "RFC 3986 §2.1"},
	codec.NUL:              {"the escape %00 stands for a NUL byte, which ends strings in many programs", "RFC 3986 §7.3"},
	codec.Control:          {"an escape stands for a control byte", "RFC 3986 §7.3"},
	codec.BadUTF8:          {"escapes stand for bytes that are not UTF-8, such as text in another charset", "RFC 3629 §3"},
	codec.OverlongUTF8:     {"a complete sequence of escapes spells a character with more bytes than UTF-8 allows, a way around filters", "RFC 3629 §3, §10"},
	codec.SurrogateUTF8:    {"a complete sequence of escapes spells half of a UTF-16 pair, which UTF-8 does not allow", "RFC 3629 §3"},
	codec.Noncharacter:     {"escapes stand for a code point that Unicode has set aside as no character", "Unicode §23.7"},
	codec.DoubleEncoded:    {"an escape was escaped again: %25 and two hex digits", "RFC 3986 §2.4"},
	codec.EncodedTraversal: {"'..' next to an escaped slash: no dot segment here, but one for a server that decodes first", "RFC 3986 §7.3"},
	codec.LowerHex:         {"an escape with lower-case hex digits; the normal form has upper case", "RFC 3986 §6.2.2.1"},
	codec.NeedlessEscape:   {"an escape of a character that needs none", "RFC 3986 §6.2.2.2"},

	codec.RawControl:   {"a control byte as such", "RFC 3986 §2"},
	codec.RawSpace:     {"a space as such", "RFC 3986 §2"},
	codec.RawNonASCII:  {"a byte beyond ASCII as such", "RFC 3986 §2"},
	codec.RawBackslash: {"a backslash, which browsers read as '/' and RFC 3986 does not allow", "RFC 3986 §2, WHATWG URL §4.4"},
	codec.RawIllegal:   {"a character that may not stand here as such", "RFC 3986 §2"},

	codec.IPv4Nonstandard: {"an IPv4 address in hex, octal or short form: a name by the RFC, an address for many resolvers", "RFC 3986 §7.4"},
	codec.IPLiteralBad:    {"brackets around something that is no IP address", "RFC 3986 §3.2.2"},
	codec.HostNotLDH:      {"a host with something else than letters, digits, hyphens and dots", "RFC 1123 §2.1"},
	codec.IDNAInvalid:     {"a domain whose characters or 'xn--' labels UTS 46 does not allow", "UTS 46 §4"},
	codec.ZoneID:          {"an IPv6 address with a zone, which means something on one machine only", "RFC 9844"},
	codec.HostAmbiguous:   {"browsers and RFC 3986 see different hosts", "RFC 3986 §7.6, WHATWG URL §4.4"},
	codec.PortInvalid:     {"what should be a port is not a number from 0 to 65535", "RFC 3986 §3.2.3"},
	codec.HostMissing:     {"a web URL has no host", "RFC 9110 §4.2.1"},
	codec.SchemeInvalid:   {"text before the first ':' that is no scheme", "RFC 3986 §4.2"},

	codec.Credentials:       {"a username or a password is in the URL", "RFC 3986 §3.2.1, §7.5"},
	codec.Relative:          {"no scheme: the URL is relative, and means something only with a base", "RFC 3986 §4.2"},
	codec.DotSegments:       {"the path has a '.' or '..' segment", "RFC 3986 §5.2.4"},
	codec.HTMLEntity:        {"'&amp;' in the query: a URL taken out of HTML without decoding it", "HTML §13.5"},
	codec.FragmentInRequest: {"a '#' in a request target, which should never reach a server", "RFC 9110 §7.1"},
	codec.SchemeGuessed:     {"the scheme was not there, and was put in front because the options say so", ""},

	codec.TrimmedEnds:  {"spaces or control bytes at either end, which browsers cut off", "WHATWG URL §4.4"},
	codec.TabOrNewline: {"tabs or line breaks inside, which browsers take out", "WHATWG URL §4.4"},
	codec.SignedURL:    {"the query carries a signature, so no key rule touches it", ""},
	codec.WHATWGReject: {"browsers have no reading of this URL; it was read by RFC 3986", "WHATWG URL §4.4"},

	codec.DomainToASCII:              {"a domain that breaks the strict rules for registered names", "WHATWG URL §3.3"},
	codec.DomainPercentEncoded:       {"an escape in a domain, which is decoded before the name is looked up", "WHATWG URL §3.5"},
	codec.HostInvalidCodePoint:       {"a host of a scheme that is not special has a forbidden character", "WHATWG URL §3.5"},
	codec.IPv4NonASCIIInput:          {"an IPv4 address in characters beyond ASCII, such as full-width digits", "WHATWG URL §3.5"},
	codec.IPv4EmptyPart:              {"a dot at the end of an IPv4 address", "WHATWG URL §3.5"},
	codec.IPv4TooFewParts:            {"an IPv4 address in short form, with fewer than four numbers", "WHATWG URL §3.5"},
	codec.IPv4TooManyParts:           {"a host that ends in a number is an IPv4 address, and has more than four parts", "WHATWG URL §3.5"},
	codec.IPv4NonNumericPart:         {"a host that ends in a number is an IPv4 address, and has a part that is no number", "WHATWG URL §3.5"},
	codec.IPv4NonDecimalPart:         {"a number of an IPv4 address is in hex or octal", "WHATWG URL §3.5"},
	codec.IPv4OutOfRangePart:         {"a number of an IPv4 address is above 255", "WHATWG URL §3.5"},
	codec.IPv6Unclosed:               {"'[' opens an IPv6 address, and no ']' closes it", "WHATWG URL §3.5"},
	codec.IPv6InvalidCompression:     {"an IPv6 address begins with a single ':'", "WHATWG URL §3.5"},
	codec.IPv6TooManyPieces:          {"an IPv6 address with more than eight pieces", "WHATWG URL §3.5"},
	codec.IPv6MultipleCompression:    {"'::' stands twice in an IPv6 address", "WHATWG URL §3.5"},
	codec.IPv6InvalidCodePoint:       {"an IPv6 address has something else than hex digits and ':', or ends too early", "WHATWG URL §3.5"},
	codec.IPv6TooFewPieces:           {"an IPv6 address with fewer than eight pieces and no '::'", "WHATWG URL §3.5"},
	codec.IPv6PieceLeadingZero:       {"a piece of an IPv6 address begins with a zero that it does not need", "WHATWG URL §3.5"},
	codec.IPv4InIPv6TooManyPieces:    {"no room is left in the IPv6 address for the IPv4 address at its end", "WHATWG URL §3.5"},
	codec.IPv4InIPv6InvalidCodePoint: {"the IPv4 address in an IPv6 address is not four plain decimal numbers", "WHATWG URL §3.5"},
	codec.IPv4InIPv6OutOfRangePart:   {"the IPv4 address in an IPv6 address has a number above 255", "WHATWG URL §3.5"},
	codec.IPv4InIPv6TooFewParts:      {"the IPv4 address in an IPv6 address has fewer than four numbers", "WHATWG URL §3.5"},

	codec.InvalidURLUnit:                       {"a character that browsers accept here, though no valid URL has it", "WHATWG URL §4.3, §4.4"},
	codec.SpecialSchemeMissingFollowingSolidus: {"the scheme of a web or file URL without '//' behind it", "WHATWG URL §4.4"},
	codec.MissingSchemeNonRelativeURL:          {"there is no scheme, and no base that could give one", "WHATWG URL §4.4"},
	codec.InvalidReverseSolidus:                {"a backslash where browsers take it for a slash", "WHATWG URL §4.4"},
	codec.InvalidCredentials:                   {"a username or a password, which no valid URL has", "WHATWG URL §4.4"},
	codec.PortOutOfRange:                       {"a port above 65535", "WHATWG URL §4.4"},
	codec.FileInvalidWindowsDriveLetter:        {"a reference to a drive of Windows, against the base of a file URL", "WHATWG URL §4.4"},
	codec.FileInvalidWindowsDriveLetterHost:    {"a drive of Windows where a file URL has its host", "WHATWG URL §4.4"},

	codec.EmptyPair:  {"the query has a field without name and value: '&&', or a '&' at one of its ends", "URL Standard §5.1"},
	codec.ParamStyle: {"a parameter is not written in the style that is declared for it", "OpenAPI 3.1.1 §4.8.12"},

	codec.DiagnosticsDropped: {"there are more places than are recorded", ""},
}

// actionTexts says what was done about a mark.
var actionTexts = map[codec.Action]string{
	codec.Kept:     "Kept as it is.",
	codec.Encoded:  "Encoded.",
	codec.Decoded:  "Decoded.",
	codec.Removed:  "Removed.",
	codec.Recased:  "Written in upper case.",
	codec.Replaced: "Written in another way.",
	codec.Rejected: "This is why the URL has no reading.",
}

// changeTexts says what a class of change means.
var changeTexts = map[codec.Change]string{
	codec.Unchanged:   "the URL is in normal form",
	codec.Cosmetic:    "another spelling of the same URL in every scheme (RFC 3986 §6.2.2)",
	codec.SchemeEqual: "the same resource by the rules of its scheme (RFC 3986 §6.2.3)",
	codec.Repaired:    "read as a browser does, where the RFC keeps apart",
	codec.Lossy:       "a rule removed something",
}

// clause writes a clause for people, with "section" where there is no §.
func (s style) clause(c string) string {
	if s.unicode {
		return c
	}
	var out []byte
	for _, r := range c {
		if r == '§' {
			out = append(out, "section "...)
			continue
		}
		out = append(out, string(r)...)
	}
	return string(out)
}
