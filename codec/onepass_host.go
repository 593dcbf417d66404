package codec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// This file parses the schemes and hosts that parseClean gives up on.

// host parses and writes scheme and host, which begins at start. It returns the
// offset after them, or 0 to give up.
func (p *pass) host(start int) int {
	src := p.src
	i, pauses, capitals := p.survey.Labels(start)
	odd, look := false, false
	switch {
	case i == 64 || i == start || i < len(src) && class[src[i]]&nameByte != 0 && src[i] != ':':
		if i, odd = p.oddLabels(start); i == 0 {
			return 0
		}
		capitals, look = 0, true
	case pauses&(pauses<<1|1|1<<(i-start-1)) != 0:
		return 0
	}
	if !cleanHostEnd(src[start:i]) {
		return 0
	}
	*p.in = URL{kind: RegName, flags: hasAuthority}
	p.in.set(Scheme, 0, start-len("://"))
	p.in.set(Host, start, i)
	*p.out = *p.in
	p.lowerFront(start, i, capitals, look)
	if p.plainHost = !odd; odd {
		p.oddHost(start, src[start:i])
	}
	return i
}

// oddLabels returns the end of a host that contains other bytes than letters,
// digits, hyphens and dots, or is longer than the survey sees, and whether it
// contains such bytes. end is 0 to give up.
func (p *pass) oddLabels(start int) (end int, odd bool) {
	src := p.src
	allowed := uint16(hostByte)
	if p.profile.Standard == WHATWG {
		allowed = nameByte
	}
	i, last, bad, all := start, uint16(pauseByte), uint16(0), uint16(ldhByte)
	for i < len(src) {
		c := class[src[i]]
		if c&allowed == 0 {
			break
		}
		bad |= last & c
		all &= c
		last = c
		i++
	}
	if (bad|last)&pauseByte != 0 || i-start > 63 {
		return 0, false
	}
	return i, all == 0
}

// lowerFront lower-cases the scheme and the host src[start:end]. Bit k of
// capitals is set if byte k of the host is a capital letter. If look is set,
// capitals is unknown.
func (p *pass) lowerFront(start, end int, capitals uint64, look bool) {
	lowered := cleanScheme(p.src) != 0
	if lowered && capitals == 0 && !look || p.table == verbatimWalk {
		return
	}
	p.flush(end, end)
	norm := p.dst[p.base:]
	if !lowered {
		lowerScheme(norm[:start])
		p.note(LowerScheme)
	}
	if look && lowerInPlace(norm[start:]) {
		p.note(LowerHost)
	}
	if capitals != 0 {
		p.note(LowerHost)
	}
	for ; capitals != 0; capitals &= capitals - 1 {
		norm[start+bits.TrailingZeros64(capitals)] |= 0x20
	}
}

// oddHost records diagnostics for the bytes of a host that are not letters,
// digits, hyphens or dots. The host begins at start.
func (p *pass) oddHost(start int, host []byte) {
	p.c, p.text, p.rawEnd = Host, p.src[:start+len(host)], -1
	first, marked := 0, false
	for class[host[first]]&ldhByte != 0 {
		first++
	}
	label := 1 + bytes.LastIndexByte(host[:first], '.')
	for i := label; i < len(host); i++ {
		switch c := class[host[i]]; {
		case c&ldhByte != 0:
		case c&hostByte == 0: // allowed by WHATWG only
			p.illegal(start+i, start+i+1, Kept)
			p.keepAt(start + i)
		case !marked:
			p.mark(start+i, HostNotLDH, Kept, 0)
			marked = true
		}
		if i == label && p.profile.Standard == WHATWG {
			p.mark(start+i, DomainToASCII, Kept, 0)
		}
	}
}

// webScheme returns the length of "http://" or "https://" in any case, or 0.
func webScheme(src []byte) int {
	const letters = 0x20_20_20_20 // the bit that distinguishes upper and lower case
	if len(src) < 8 {
		return 0
	}
	x := binary.LittleEndian.Uint64(src) | letters
	switch {
	case x|0x20<<32 == httpsSlashes:
		return 8
	case x&(1<<56-1) == httpSlashes:
		return 7
	}
	return 0
}

// lowerScheme lower-cases "http://" or "https://". The bit that it sets is
// already set in the bytes after the letters.
func lowerScheme(b []byte) {
	x := binary.LittleEndian.Uint32(b) | 0x20_20_20_20
	binary.LittleEndian.PutUint32(b, x)
	b[4] |= 0x20
}
