package codec

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/codec/percent"
)

// A state is a state of the basic URL parser, with its name and order in the
// standard. States used only with a state override are omitted.
type state uint8

const (
	stateSchemeStart state = iota
	stateScheme
	stateNoScheme
	stateSpecialRelativeOrAuthority
	statePathOrAuthority
	stateRelative
	stateRelativeSlash
	stateSpecialAuthoritySlashes
	stateSpecialAuthorityIgnoreSlashes
	stateAuthority
	stateHost
	statePort
	stateFile
	stateFileSlash
	stateFileHost
	statePathStart
	statePath
	stateOpaquePath
	stateQuery
	stateFragment
	stateEnd
)

// run runs the state machine. Each state consumes as many bytes as it can,
// leaves the pointer at the first byte for the next state, and returns that
// state.
func (p *parser) run() {
	for st := stateSchemeStart; st != stateEnd; {
		switch st {
		case stateSchemeStart:
			st = p.schemeStart()
		case stateScheme:
			st = p.scheme()
		case stateNoScheme:
			st = p.noScheme()
		case stateSpecialRelativeOrAuthority:
			st = p.specialRelativeOrAuthority()
		case statePathOrAuthority:
			st = p.pathOrAuthority()
		case stateRelative:
			st = p.relative()
		case stateRelativeSlash:
			st = p.relativeSlash()
		case stateSpecialAuthoritySlashes:
			st = p.specialAuthoritySlashes()
		case stateSpecialAuthorityIgnoreSlashes:
			st = p.specialAuthorityIgnoreSlashes()
		case stateAuthority:
			st = p.authority()
		case stateHost:
			st = p.host()
		case statePort:
			st = p.port()
		case stateFile:
			st = p.file()
		case stateFileSlash:
			st = p.fileSlash()
		case stateFileHost:
			st = p.fileHost()
		case statePathStart:
			st = p.pathStart()
		case statePath:
			st = p.pathState()
		case stateOpaquePath:
			st = p.opaquePath()
		case stateQuery:
			st = p.query()
		case stateFragment:
			st = p.fragment()
		}
	}
}

// eof is the result of c at the end of the input.
const eof = -1

// c returns the byte at the pointer, or eof.
func (p *parser) c() int { return p.peek(0) }

// peek returns the byte n positions after the pointer, or eof.
func (p *parser) peek(n int) int {
	if p.i+n < len(p.in) {
		return int(p.in[p.i+n])
	}
	return eof
}

// special reports whether the URL's scheme is special.
func (p *parser) special() bool { return p.known != schemeOther }

// isSlash reports whether c separates segments: '/', and '\' in special URLs.
func (p *parser) isSlash(c int) bool { return c == '/' || c == '\\' && p.special() }

// endsAuthority reports whether c ends authority, host or port.
func (p *parser) endsAuthority(c int) bool {
	return c == eof || c == '?' || c == '#' || p.isSlash(c)
}

func (p *parser) schemeStart() state {
	if p.i < len(p.in) && isAlpha(p.in[p.i]) {
		return stateScheme
	}
	return stateNoScheme
}

func (p *parser) scheme() state {
	end := schemeEnd(p.in)
	if end == 0 {
		return stateNoScheme
	}
	p.u.set(Scheme, 0, end-1)
	p.writeScheme(p.in[:end-1])
	p.rewrote(RuleLowerScheme, Scheme, p.in[:end-1], p.dst[p.start:p.start+end-1])
	p.i = end
	switch {
	case p.known == schemeFile:
		if p.c() != '/' || p.peek(1) != '/' {
			p.mark(FlagSpecialSchemeMissingFollowingSolidus, p.i, Scheme, ActionEncoded)
		}
		return stateFile
	case p.special() && p.base != nil && p.base.known == p.known:
		return stateSpecialRelativeOrAuthority
	case p.special():
		return stateSpecialAuthoritySlashes
	case p.c() == '/':
		p.i++
		return statePathOrAuthority
	}
	return stateOpaquePath
}

// writeScheme writes a scheme and its ':'.
func (p *parser) writeScheme(name []byte) {
	p.dst = appendLower(p.dst, name)
	p.known = lookupScheme(p.dst[p.start:])
	p.note(Scheme, p.start)
	p.dst = append(p.dst, ':')
}

// note records that component c is dst[start:].
func (p *parser) note(c Component, start int) {
	p.out.set(c, start-p.start, len(p.dst)-p.start)
}

func (p *parser) noScheme() state {
	b := p.base
	if b == nil || b.opaque && p.c() != '#' {
		return p.fail(FlagMissingSchemeNonRelativeURL, 0, Scheme, ErrRelative)
	}
	p.writeScheme(b.u.Bytes(b.text, Scheme))
	p.added(ruleResolve, Scheme, b.u.Bytes(b.text, Scheme))
	switch {
	case b.opaque:
		p.opaque = true
		p.copyBase(Path)
		p.keepBase(Path)
		p.copyBase(Query)
		p.keepBase(Query)
		return p.delimiter()
	case p.known == schemeFile:
		return stateFile
	}
	return stateRelative
}

// copyBase writes the path or query of the base.
func (p *parser) copyBase(c Component) {
	if !p.base.u.Has(c) {
		return
	}
	if c == Query {
		p.dst = append(p.dst, '?')
	}
	start := len(p.dst)
	text := p.base.u.Bytes(p.base.text, c)
	if c == Path {
		p.path = start
		if !p.base.u.HasAuthority() && bytes.HasPrefix(text, guardedPath) {
			text = text[2:] // guard restores the removed bytes where needed
		}
	}
	p.dst = append(p.dst, text...)
	p.note(c, start)
}

// keepBase records that component c comes from the base.
func (p *parser) keepBase(c Component) {
	if p.out.Has(c) {
		p.added(ruleResolve, c, p.out.Bytes(p.dst[p.start:], c))
	}
}

var guardedPath = []byte("/.//")

// copyAuthority writes userinfo, host and port of the base. The scheme is the
// same, so the spans are too.
func (p *parser) copyAuthority() {
	b := &p.base.u
	if !b.HasAuthority() {
		return
	}
	p.dst = append(p.dst, p.base.text[b.Span(Scheme).End+1:b.Span(Path).Start]...)
	for c := Username; c <= Port; c++ {
		p.out.spans[c] = b.spans[c]
	}
	p.out.present |= b.present & (1<<Username | 1<<Password | 1<<Host | 1<<Port)
	for c := Username; c <= Port; c++ {
		p.keepBase(c)
	}
	p.out.kind, p.out.port, p.out.flags = b.kind, b.port, b.flags
}

func (p *parser) specialRelativeOrAuthority() state {
	if p.c() == '/' && p.peek(1) == '/' {
		p.front = p.i
		p.i += 2
		return stateSpecialAuthorityIgnoreSlashes
	}
	p.mark(FlagSpecialSchemeMissingFollowingSolidus, p.i, Scheme, ActionKept)
	return stateRelative
}

func (p *parser) pathOrAuthority() state {
	if p.c() == '/' {
		p.i++
		return stateAuthority
	}
	p.path = len(p.dst)
	return statePath
}

func (p *parser) relative() state {
	if p.isSlash(p.c()) {
		p.reverseSolidus(p.i)
		p.i++
		return stateRelativeSlash
	}
	p.copyAuthority()
	p.copyBase(Path)
	return p.afterBasePath()
}

// afterBasePath continues after the path of the base: with the query of the
// base, with the reference's own query, or with segments that replace the last
// segment.
func (p *parser) afterBasePath() state {
	switch p.c() {
	case '?':
		p.keepBase(Path)
		return p.delimiter()
	case '#', eof:
		p.keepBase(Path)
		p.copyBase(Query)
		p.keepBase(Query)
		return p.delimiter()
	}
	p.shorten()
	return statePath
}

// reverseSolidus records a validation error if in[at] is a '\'.
func (p *parser) reverseSolidus(at int) {
	if at < len(p.in) && p.in[at] == '\\' {
		p.mark(FlagInvalidReverseSolidus, at, Path, ActionReplaced)
	}
}

func (p *parser) relativeSlash() state {
	if p.special() && p.isSlash(p.c()) {
		p.reverseSolidus(p.i)
		p.front = p.i - 1
		p.i++
		return stateSpecialAuthorityIgnoreSlashes
	}
	if p.c() == '/' {
		p.i++
		return stateAuthority
	}
	p.copyAuthority()
	p.path = len(p.dst)
	return statePath
}

func (p *parser) specialAuthoritySlashes() state {
	p.front = p.i
	if p.c() == '/' && p.peek(1) == '/' {
		p.i += 2
	} else {
		p.mark(FlagSpecialSchemeMissingFollowingSolidus, p.i, Scheme, ActionEncoded)
	}
	return stateSpecialAuthorityIgnoreSlashes
}

func (p *parser) specialAuthorityIgnoreSlashes() state {
	for ; p.c() == '/' || p.c() == '\\'; p.i++ {
		p.mark(FlagSpecialSchemeMissingFollowingSolidus, p.i, Host, ActionRemoved)
	}
	p.authoritySlashes(p.front)
	return stateAuthority
}

// authoritySlashes records a rule if text other than "//" precedes the
// authority, which starts at the pointer. That text starts at from.
func (p *parser) authoritySlashes(from int) {
	if string(p.in[from:p.i]) == "//" {
		return
	}
	p.applied |= 1 << ruleAuthoritySlashes
	if p.rec != nil {
		front := p.dst[p.start:]
		p.rec.change(ruleAuthoritySlashes, WholeURL, slices.Concat(front, p.in[from:]), slices.Concat(front, slashes, p.in[p.i:]))
	}
}

// authority parses the userinfo: up to the last '@' before the host.
func (p *parser) authority() state {
	p.dst = append(p.dst, "//"...)
	p.u.flags |= hasAuthority
	p.out.flags |= hasAuthority
	end := p.i
	for end < len(p.in) && !p.endsAuthority(int(p.in[end])) {
		end++
	}
	at := bytes.LastIndexByte(p.in[p.i:end], '@')
	if at < 0 {
		return stateHost
	}
	p.userinfo(p.i, p.i+at)
	p.i += at + 1
	if p.i == end {
		return p.fail(FlagHostMissing, p.i, Host, ErrHostMissing)
	}
	return stateHost
}

// userinfo writes the credentials in[start:end].
func (p *parser) userinfo(start, end int) {
	splitUserinfo(p.in, start, end, p.u)
	for i, c := range p.in[start : end+1] {
		if c == '@' {
			p.mark(FlagInvalidCredentials, start+i, Username, ActionKept)
		}
	}
	user, password := p.u.Bytes(p.in, Username), p.u.Bytes(p.in, Password)
	if len(user)+len(password) == 0 {
		p.removed(RuleEmptyUserinfo, Username)
	}
	if len(password) == 0 && p.u.Has(Password) {
		p.removed(RuleEmptyUserinfo, Password)
	}
	if len(user) == 0 && len(password) == 0 {
		return
	}
	at := len(p.dst)
	p.escaped(Username, user, p.esc[setUserinfo])
	p.note(Username, at)
	if len(password) > 0 {
		p.dst = append(p.dst, ':')
		at = len(p.dst)
		p.escaped(Password, password, p.esc[setUserinfo])
		p.note(Password, at)
	}
	p.dst = append(p.dst, '@')
}

func (p *parser) host() state {
	start := p.i
	p.i = p.hostEnd()
	port := p.c() == ':'
	if p.i == start && (port || p.special()) {
		return p.fail(FlagHostMissing, p.i, Host, ErrHostMissing)
	}
	if !p.parseHost(start, p.i, !p.special()) {
		return stateEnd
	}
	if port {
		p.i++
		return statePort
	}
	return statePathStart
}

// hostEnd returns the end of the host that begins at the pointer: a ':' outside
// brackets, or the end of the authority.
func (p *parser) hostEnd() int {
	inside := false
	for i, c := range p.in[p.i:] {
		switch c {
		case '[':
			inside = true
		case ']':
			inside = false
		case ':':
			if !inside {
				return p.i + i
			}
		case '/', '?', '#', '\\':
			if c != '\\' || p.special() {
				return p.i + i
			}
		}
	}
	return len(p.in)
}

func (p *parser) port() state {
	start := p.i
	for p.i < len(p.in) && isDigit(p.in[p.i]) {
		p.i++
	}
	p.u.set(Port, start, p.i)
	if !p.endsAuthority(p.c()) {
		return p.fail(FlagPortInvalid, p.i, Port, ErrPortInvalid)
	}
	if p.i == start {
		p.removed(RuleDefaultPort, Port)
		return statePathStart
	}
	p.u.readPort(p.in)
	if _, ok := p.u.PortNumber(); !ok {
		return p.fail(FlagPortOutOfRange, start, Port, ErrPortInvalid)
	}
	digits := trimZeros(p.in[start:p.i])
	if string(digits) == p.known.port() {
		p.removed(RuleDefaultPort, Port)
		return statePathStart
	}
	p.rewrote(RuleDefaultPort, Port, p.in[start:p.i], digits)
	p.dst = append(p.dst, ':')
	at := len(p.dst)
	p.dst = append(p.dst, digits...)
	p.note(Port, at)
	p.out.port, p.out.flags = p.u.port, p.out.flags|portOK
	return statePathStart
}

func (p *parser) file() state {
	if c := p.c(); c == '/' || c == '\\' {
		p.reverseSolidus(p.i)
		p.i++
		return stateFileSlash
	}
	if p.base == nil || p.base.known != schemeFile {
		return p.addFileHost()
	}
	p.copyAuthority()
	p.copyBase(Path)
	if startsWithDriveLetter(p.in[p.i:]) {
		p.mark(FlagFileInvalidWindowsDriveLetter, p.i, Path, ActionKept)
		p.dst = p.dst[:p.path]
		return statePath
	}
	return p.afterBasePath()
}

// addFileHost adds the empty host of a file URL that has none.
func (p *parser) addFileHost() state {
	p.added(RuleFileLocalhost, Host, nil)
	p.writeFileHost()
	return statePath
}

// writeFileHost writes the empty host of a file URL.
func (p *parser) writeFileHost() {
	p.dst = append(p.dst, "//"...)
	p.out.flags |= hasAuthority
	p.note(Host, len(p.dst))
	p.path = len(p.dst)
}

func (p *parser) fileSlash() state {
	if c := p.c(); c == '/' || c == '\\' {
		p.reverseSolidus(p.i)
		p.i++
		p.authoritySlashes(p.i - 2)
		return stateFileHost
	}
	if p.base == nil || p.base.known != schemeFile {
		return p.addFileHost()
	}
	p.copyAuthority()
	p.path = len(p.dst)
	if !startsWithDriveLetter(p.in[p.i:]) {
		path := p.base.u.Bytes(p.base.text, Path)
		if n := driveSegment(path); n > 0 {
			p.dst = append(p.dst, path[:n]...)
		}
	}
	return statePath
}

func (p *parser) fileHost() state {
	start := p.i
	for c := p.c(); c != eof && c != '/' && c != '\\' && c != '?' && c != '#'; c = p.c() {
		p.i++
	}
	p.u.flags |= hasAuthority
	host := p.in[start:p.i]
	switch {
	case len(host) == 2 && startsWithDriveLetter(host):
		p.mark(FlagFileInvalidWindowsDriveLetterHost, start, Host, ActionKept)
		p.u.set(Host, start, start)
		p.i, p.checked = start, start+len(host) // the path state does not check these bytes again
		p.writeFileHost()
		return statePath
	case len(host) == 0:
		p.u.set(Host, start, start)
		p.writeFileHost()
		return statePathStart
	}
	p.dst = append(p.dst, "//"...)
	p.out.flags |= hasAuthority
	if !p.parseHost(start, p.i, false) {
		return stateEnd
	}
	if string(p.out.Bytes(p.dst[p.start:], Host)) == "localhost" {
		p.rewrote(RuleFileLocalhost, Host, p.out.Bytes(p.dst[p.start:], Host), nil)
		p.dst = p.dst[:p.start+int(p.out.Span(Host).Start)]
		p.note(Host, len(p.dst))
		p.out.kind = HostNone
	}
	return statePathStart
}

// delimiter returns the state that follows the end of a path or query.
func (p *parser) delimiter() state {
	switch p.c() {
	case '?':
		p.i++
		return stateQuery
	case '#':
		p.i++
		return stateFragment
	}
	return stateEnd
}

func (p *parser) query() state {
	end := len(p.in)
	if i := bytes.IndexByte(p.in[p.i:], '#'); i >= 0 {
		end = p.i + i
	}
	esc := p.esc[setQuery]
	if p.special() {
		esc = p.esc[setSpecialQuery]
	}
	if p.queries != nil && p.special() && p.known != schemeWS && p.known != schemeWSS {
		p.encodedQuery(end, esc)
	} else {
		p.rest(Query, '?', end, esc)
	}
	return p.delimiter()
}

func (p *parser) fragment() state {
	p.rest(Fragment, '#', len(p.in), p.esc[setFragment])
	return stateEnd
}

// rest writes the query or fragment, from the pointer to end.
func (p *parser) rest(c Component, delimiter byte, end int, esc percent.EscapeRules) {
	p.restAs(c, delimiter, end, p.in[p.i:end], esc)
}

// restAs is rest, but writes text in place of the bytes of the component.
func (p *parser) restAs(c Component, delimiter byte, end int, text []byte, esc percent.EscapeRules) {
	p.dst = append(p.dst, delimiter)
	at := len(p.dst)
	p.u.set(c, p.i, end)
	p.escaped(c, text, esc)
	p.note(c, at)
	if dirtOf(p.in[p.i:end])&(dirtRaw[c]|dirtPercent) != 0 {
		p.urlUnits(c, p.i, end)
	}
	p.i = end
}
