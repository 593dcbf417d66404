package codec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// This file parses the schemes and hosts that parseClean gives up on.

// oddOpening is parseOpening for hosts that contain bytes other than letters,
// digits, hyphens and dots, or are longer than the survey sees.
func (p *pass) oddOpening() opening {
	src, u, sv := p.src, p.in, &p.s.survey
	start, odd := webScheme(src)
	if start == 0 || len(src) > keepBytes {
		return opening{}
	}
	sv.Read(src, start, webClasses)
	i, others := p.oddLabels(start)
	if i <= start || !cleanHostEnd(src[start:i]) {
		return opening{}
	}
	*u = URL{kind: HostRegName, flags: hasAuthority}
	u.set(Scheme, 0, start-len("://"))
	u.set(Host, start, i)
	p.plainHost = !others
	if i, odd = afterHost(src, i, u, odd|oddName); odd&oddOther != 0 {
		return opening{}
	}
	special, hashes := u.setTail(len(src), i, sv)
	return opening{i, special, 0, odd | hashes}
}

// oddLabels returns the end of a host that is longer than the survey sees, or
// contains bytes other than letters, digits, hyphens and dots. odd reports
// whether the host contains such bytes. end is 0 if oddLabels gives up.
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

// opening writes scheme, host and port if they need work.
func (p *pass) opening(o opening) {
	host := p.in.spans[Host]
	start, end := int(host.Start), int(host.End)
	if o.odd&oddPort != 0 && p.removesDefaultPort() {
		p.note(RuleDefaultPort)
		p.out.clearPort()
		p.flush(end, o.path)
	} else {
		p.flush(end, end)
	}
	if p.table != verbatimWalk {
		p.applied.set(RuleLowerScheme, o.odd&oddScheme != 0)
		norm := p.dst[p.base:p.at]
		binary.LittleEndian.PutUint64(norm, binary.LittleEndian.Uint64(norm)|httpsCase)
		lowered := o.capitals != 0
		if o.odd&oddName != 0 {
			lowered = lowerInPlace(norm[start:end])
		}
		p.applied.set(RuleLowerHost, lowered)
		for x := o.capitals; x != 0; x &= x - 1 {
			norm[start+bits.TrailingZeros64(x)] |= 0x20
		}
	}
	if o.odd&oddName != 0 && !p.plainHost {
		p.oddHost(start, p.src[start:end])
	}
}

// oddHost records diagnostics for the bytes of a host that are not letters,
// digits, hyphens or dots. The host begins at start.
func (p *pass) oddHost(start int, host []byte) {
	p.c, p.end = Host, start+len(host)
	first, marked := 0, false
	for class[host[first]]&ldhByte != 0 {
		first++
	}
	label := 1 + bytes.LastIndexByte(host[:first], '.')
	for i := label; i < len(host); i++ {
		switch c := class[host[i]]; {
		case c&ldhByte != 0:
		case c&hostByte == 0: // allowed by WHATWG only
			p.illegal(start+i, start+i+1, ActionKept)
			p.keepAt(start + i)
		case !marked:
			p.mark(start+i, FlagHostNotLDH, ActionKept)
			marked = true
		}
		if i == label && p.profile.Standard == WHATWG {
			p.mark(start+i, FlagDomainToASCII, ActionKept)
		}
	}
}

// isWeb reports whether src starts with "http://" or "https://", in any case.
func isWeb(src []byte) bool {
	start, _ := webScheme(src)
	return start > 0
}
