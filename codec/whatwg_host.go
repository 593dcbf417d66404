package codec

import (
	"bytes"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/percent"
)

// parseHost runs the host parser on in[start:end]
// (https://url.spec.whatwg.org/#concept-host-parser). It writes the host and
// reports whether it is valid.
func (p *parser) parseHost(start, end int, isOpaque bool) bool {
	p.u.set(Host, start, end)
	text := p.in[start:end]
	at := len(p.dst)
	ok := false
	switch {
	case hasPrefix(text, '['):
		p.u.kind = HostBadLiteral
		ok = p.literal(text, start)
	case isOpaque:
		ok = p.opaqueHost(text, start, end)
	default:
		ok = p.domain(text, start)
	}
	if ok {
		p.note(Host, at)
		p.u.kind = p.out.kind
	}
	return ok
}

// failHost records the validation error that makes the host invalid.
func (p *parser) failHost(f Flag, at int) bool {
	p.fail(f, at, Host, ErrHostInvalid)
	return false
}

func (p *parser) literal(text []byte, at int) bool {
	if text[len(text)-1] != ']' {
		return p.failHost(FlagIPv6Unclosed, at+len(text))
	}
	groups, ok := p.ipv6(text[1:len(text)-1], at+1)
	if !ok {
		return false
	}
	p.out.kind = HostIPv6
	start := len(p.dst)
	p.dst = append(ip.AppendV6(append(p.dst, '['), groups), ']')
	p.rewroteHost(RuleShortIPv6, text, p.dst[start:])
	return true
}

// rewroteHost records that r changed the host from before to after; if after is
// before in lower case, it records RuleLowerHost instead.
func (p *parser) rewroteHost(r Rule, before, after []byte) {
	if bytes.Equal(before, after) {
		return
	}
	if isASCII(before) && bytes.EqualFold(before, after) {
		r = RuleLowerHost
	}
	p.rewrote(r, Host, before, after)
}

// opaqueHost runs the opaque-host parser
// (https://url.spec.whatwg.org/#concept-opaque-host-parser).
func (p *parser) opaqueHost(text []byte, start, end int) bool {
	for i, c := range text {
		if forbiddenHost[c] {
			return p.failHost(FlagHostInvalidCodePoint, start+i)
		}
	}
	p.urlUnits(Host, start, end)
	p.escaped(Host, text, p.esc[setOpaque])
	if len(text) > 0 {
		p.out.kind = HostOpaque
	}
	return true
}

// forbiddenHost holds the forbidden host code points, forbiddenDomain the
// forbidden domain code points
// (https://url.spec.whatwg.org/#host-miscellaneous).
var forbiddenHost, forbiddenDomain = func() (host, domain [256]bool) {
	for _, c := range []byte("\x00\t\n\r #/:<>?@[\\]^|") {
		host[c] = true
	}
	domain = host
	for c := range 0x20 {
		domain[c] = true
	}
	domain['%'], domain[0x7F] = true, true
	return host, domain
}()

// domain runs the host parser's steps for special URLs: percent-decode, domain
// to ASCII, and the IPv4 parser if the result ends in a number.
func (p *parser) domain(text []byte, start int) bool {
	domain := text
	if i := indexTriplet(text); i >= 0 {
		p.mark(FlagDomainPercentEncoded, start+i, Host, ActionDecoded)
		s := &p.r.scratch
		s.host = percent.AppendDecode(s.host[:0], text)
		domain = s.host
		p.rewrote(ruleHostDecode, Host, text, domain)
	}
	if isStrict(domain) {
		p.dst = appendLower(p.dst, domain)
		p.rewrote(RuleLowerHost, Host, domain, p.dst[len(p.dst)-len(domain):])
		p.out.kind = HostRegName
		return !endsInNumber(domain) || p.number(text, start, len(p.dst)-len(domain))
	}
	if at, err := idna.Valid(domain); err != nil {
		p.mark(FlagIDNAInvalid, start+encodedOffset(text, at), Host, ActionKept)
	}
	if at, err := idna.Strict(domain); err != nil {
		p.mark(FlagDomainToASCII, start+encodedOffset(text, at), Host, ActionKept)
	}
	at := len(p.dst)
	dst, err := idna.AppendASCII(p.dst, domain)
	if err != nil {
		return p.rejectDomain(start)
	}
	p.dst = dst
	ascii := p.dst[at:]
	for i, c := range ascii {
		if forbiddenDomain[c] {
			return p.rejectDomain(start + encodedOffset(text, i*b2i(isASCII(domain))))
		}
	}
	if len(ascii) == 0 {
		return p.rejectDomain(start)
	}
	p.rewroteHost(RuleASCIIDomain, domain, ascii)
	p.out.kind = HostRegName
	if !endsInNumber(ascii) {
		return true
	}
	if !isASCII(domain) {
		p.mark(FlagIPv4NonASCIIInput, start, Host, ActionReplaced)
	}
	return p.number(text, start, at)
}

// isStrict reports whether domain is certainly valid by the strictest rules: it has
// up to 63 letters, digits, dots and hyphens, and its dots and hyphens are neither
// consecutive nor at either end. It may return false for other valid domains.
func isStrict(domain []byte) bool {
	last, bad := uint16(pauseByte), uint16(0)
	for _, c := range domain {
		t := class[c]
		bad |= last&t | ^t&ldhByte
		last = t & pauseByte
	}
	return bad|last == 0 && len(domain) <= 63
}

// rejectDomain fails with domain-to-ASCII at in[at]. The strict check has
// already recorded that error at the start of the label; rejectDomain replaces
// it, because the offset of the byte is more precise.
func (p *parser) rejectDomain(at int) bool {
	s := &p.r.scratch
	if n := len(s.parsed); n > 0 && s.parsed[n-1].Flag == FlagDomainToASCII {
		at = max(at, int(s.parsed[n-1].At))
		s.parsed = s.parsed[:n-1]
	}
	return p.failHost(FlagDomainToASCII, at)
}

// number parses the host at dst[at:] as an IPv4 address and replaces it with
// the address in dotted decimal.
func (p *parser) number(text []byte, start, at int) bool {
	s := &p.r.scratch
	s.host = append(s.host[:0], p.dst[at:]...)
	where := func(i int) int { return start } // an offset in a mapped host has no counterpart in the input
	if len(s.host) == len(text) && bytes.EqualFold(s.host, text) {
		where = func(i int) int { return start + i }
	}
	addr, ok := p.ipv4(s.host, where)
	if !ok {
		return false
	}
	p.dst = ip.AppendV4(p.dst[:at], addr)
	p.rewrote(ruleIPv4, Host, s.host, p.dst[at:])
	p.out.kind = HostIPv4
	return true
}

// indexTriplet returns the offset of the first escape in b, or -1.
func indexTriplet(b []byte) int {
	for i := range b {
		if b[i] == '%' && isTriplet(b[i:]) {
			return i
		}
	}
	return -1
}

// encodedOffset returns the offset in text of byte n of the decoded text.
func encodedOffset(text []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(text); n-- {
		if isTriplet(text[i:]) {
			i += 2
		}
		i++
	}
	return i
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
