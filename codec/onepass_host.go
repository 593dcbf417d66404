package codec

import (
	"bytes"
	"encoding/binary"
)

// This file parses the schemes and hosts that parseClean gives up on.

// host parses and writes scheme and host. It returns the offset after them, or
// 0 to give up.
func (p *pass) host() int {
	src := p.src
	start := webScheme(src)
	if start == 0 {
		return 0
	}
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
	if (bad|last)&pauseByte != 0 || i-start > 63 || !cleanHostEnd(src[start:i]) {
		return 0
	}
	*p.in = URL{kind: RegName, flags: hasAuthority}
	p.in.set(Scheme, 0, start-len("://"))
	p.in.set(Host, start, i)
	*p.out = *p.in
	p.dst = append(p.dst, src[:i]...)
	if p.table != verbatimWalk {
		norm := p.dst[p.base:]
		lowerScheme(norm[:start])
		if !bytes.Equal(norm[:start], src[:start]) {
			p.note(LowerScheme)
		}
		if lowerInPlace(norm[start:]) {
			p.note(LowerHost)
		}
	}
	if all == 0 {
		p.oddHost(start, src[start:i])
	}
	return i
}

// oddHost records diagnostics for the bytes of a host that are not letters,
// digits, hyphens or dots. The host begins at start.
func (p *pass) oddHost(start int, host []byte) {
	p.c, p.start, p.text, p.rawEnd = Host, start, host, -1
	first, marked := 0, false
	for class[host[first]]&ldhByte != 0 {
		first++
	}
	label := 1 + bytes.LastIndexByte(host[:first], '.')
	for i := label; i < len(host); i++ {
		switch c := class[host[i]]; {
		case c&ldhByte != 0:
		case c&hostByte == 0: // allowed by WHATWG only
			p.illegal(i, i+1, Kept)
			p.keepAt(start + i)
		case !marked:
			p.mark(i, HostNotLDH, Kept, 0)
			marked = true
		}
		if i == label && p.profile.Standard == WHATWG {
			p.mark(i, DomainToASCII, Kept, 0)
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
