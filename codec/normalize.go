package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/ground/scan"
)

// A Normalizer applies a profile. It is immutable and safe for concurrent use.
// Make one with Named, MustNamed or New.
type Normalizer struct {
	profile        Profile
	rules          ruleSet
	maxLen         int
	maxDiagnostics int
	level          Level  // level whose canonical string the normal form is; LevelDefault if none
	match          *match // nil unless the profile reproduces a program

	escapes [numComponents]percent.EscapeRules // by component, for RFC 3986

	whatwg [whatwgSets]percent.EscapeRules // for WHATWG
	bases  *Normalizer                     // parses bases by WHATWG, with the same escape rules

	table   *walkTable       // table of onePass; nil if onePass does not support the profile
	steps   *walkSteps       // steps of onePass
	actions [numFlags]Action // results of onEscape, for onePass

	hasher hasher
	keys   Standard // the standard by which keys are computed
	policy *Policy

	queries QueryEncoding // WHATWG only; nil for UTF-8
}

// syntax and scheme compute the keys K0 and K1, whatever the profile. browser
// parses by WHATWG where the profile's standard is RFC 3986.
var (
	syntax  = mustCompile("rfc3986")
	scheme  = mustCompile("rfc3986-scheme")
	browser = mustCompile("whatwg")
)

func mustCompile(name string) *Normalizer {
	p, _ := builtin(name)
	return compile(p)
}

// illegal holds, for each component, the bytes that RFC 3986 does not allow
// raw.
var illegal = [numComponents]percent.ByteSet{
	Username: percent.RFC3986Userinfo,
	Password: percent.RFC3986Userinfo,
	Host:     percent.RFC3986Host,
	Path:     percent.RFC3986Path,
	Query:    percent.RFC3986Query,
	Fragment: percent.RFC3986Fragment,
}

// An Option configures a Normalizer. Pass options to New, Named or MustNamed.
type Option func(*Normalizer) error

// Named returns a Normalizer for the built-in profile with the given name. The
// error is a *NameError if no profile has this name, otherwise an error of New.
func Named(profile string, opts ...Option) (*Normalizer, error) {
	p, err := Lookup(profile)
	if err != nil {
		return nil, err
	}
	return New(p, opts...)
}

// MustNamed is Named for names and options that are constants of a program. It
// panics where Named returns an error.
func MustNamed(profile string, opts ...Option) *Normalizer {
	n, err := Named(profile, opts...)
	if err != nil {
		panic(err)
	}
	return n
}

// New returns a Normalizer for p. The error is a *ProfileError if the settings
// of p contradict each other or p has the name of a built-in profile but
// differs from it, and an *OptionError if an option is invalid or does not fit
// the profile.
func New(p Profile, opts ...Option) (*Normalizer, error) {
	if p.Key == LevelDefault {
		p.Key = p.defaultKey()
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	n := compile(p)
	for _, o := range opts {
		if o == nil {
			return nil, &OptionError{"an option is nil"}
		}
		if err := o(n); err != nil {
			return nil, err
		}
	}
	if int(n.keys) >= len(standardNames) {
		return nil, &OptionError{"unknown standard for keys"}
	}
	if n.queries != nil && p.Standard != WHATWG {
		return nil, &OptionError{"a query encoding requires a profile with the standard whatwg"}
	}
	if n.queries != nil {
		n.table = nil
	}
	if err := n.hasher.prepare(n.keys, n.match); err != nil {
		return nil, err
	}
	return n, nil
}

func compile(p Profile) *Normalizer {
	n := &Normalizer{
		profile:        p,
		rules:          p.Rules.set,
		maxLen:         p.MaxLen,
		maxDiagnostics: p.MaxDiagnostics,
		match:          lookupMatch(p.Match),
	}
	for c, add := range illegal {
		n.escapes[c] = p.escapes(add)
	}
	if n.maxLen == 0 {
		n.maxLen = DefaultMaxLen
	}
	if n.maxDiagnostics == 0 {
		n.maxDiagnostics = DefaultMaxDiagnostics
	}
	n.keys, n.policy = p.Standard, defaultPolicy
	n.whatwg = whatwgEscapes(p.Rules.set)
	n.bases = &Normalizer{profile: Profile{Name: "whatwg", Standard: WHATWG}, maxLen: n.maxLen, maxDiagnostics: n.maxDiagnostics, whatwg: n.whatwg}
	if p.Standard != WHATWG {
		n.bases.whatwg = whatwgEscapes(0)
	}
	if n.table = p.walkTable(); n.table != nil {
		n.steps = n.walkSteps()
	}
	for f := range Flag(numFlags) {
		n.actions[f] = n.onEscape(f)
	}
	for lv, rules := range []ruleSet{LevelSyntax: syntaxRules, LevelEquivalent: syntaxRules | schemeRules} {
		if p.Standard == RFC3986 && p.Rules.set == rules && p.Malformed == percent.MalformedEncode {
			n.level = Level(lv)
		}
	}
	return n
}

// KeyFunction returns the name and version of the function that computes n's
// keys of a level, such as "k1-whatwg/1".
func (n *Normalizer) KeyFunction(lv Level) string {
	lv = n.keyLevel(lv)
	if lv == LevelMatch && n.match != nil {
		return n.match.key
	}
	return KeyFunction(n.keys, lv)
}

// keyLevel returns lv or, for LevelDefault, the level of n's profile.
func (n *Normalizer) keyLevel(lv Level) Level {
	if lv == LevelDefault {
		return n.profile.Key
	}
	return lv
}

// Profile returns the profile that n was made from. Its Key is the level that
// LevelDefault means.
func (n *Normalizer) Profile() Profile { return n.profile }

// Append appends the normal form of src to dst, returns the extended slice, and
// fills r. The error, if any, is an Error, whose offset is in r.ErrAt, or an
// *OptionError if n was not made by New; the slice returned is then dst,
// unchanged. src and dst must not overlap. r keeps references to src and to the
// appended bytes until the next call: see Result.
func (n *Normalizer) Append(dst, src []byte, r *Result) ([]byte, error) {
	r.scratch.seal.open()
	start := len(dst)
	if n.match != nil {
		dst, err := n.appendMatch(dst, nil, src, r)
		return n.finish(dst, src, start, err, r)
	}
	var o opening
	entity, ok := -1, false
	if scan.HasVectors() { // parseClean, inlined: the call would take 3 % of the time
		o = parseOpening(src, &r.In, &r.scratch.survey)
		if ok = o.odd == 0; ok && o.special < len(src) {
			entity, ok = cleanTail(src, o.special, &r.In, &r.scratch.survey)
		}
	} else {
		o, entity, ok = parseClean(src, &r.In, &r.scratch.survey)
	}
	switch {
	case len(src) > n.maxLen:
		ok = false
	case ok:
		r.setClean(o)
		r.markEntity(entity)
		dst = append(dst, src...)
		if n.rules.Has(RuleDropFragment) && r.In.Has(Fragment) {
			dst = n.drop(dst, start, r)
		}
	default:
		dst, ok = n.onePass(dst, src, o, r)
	}
	if !ok {
		dst, err := n.appendFull(dst, src, r)
		return n.finish(dst, src, start, err, r)
	}
	r.remember(n, src, dst[start:])
	return dst, nil
}

// finish ends a call that has appended the normal form to dst[start:], or has
// failed.
func (n *Normalizer) finish(dst, src []byte, start int, err error, r *Result) ([]byte, error) {
	if err == nil {
		r.remember(n, src, dst[start:])
	} else {
		r.scratch.seal.leave()
	}
	return dst, err
}

// appendFull is Append without the fast paths.
func (n *Normalizer) appendFull(dst, src []byte, r *Result) ([]byte, error) {
	if n.policy == nil {
		return dst, unmade(r)
	}
	if n.profile.Standard == WHATWG {
		return n.appendBrowser(dst, nil, src, r)
	}
	if err := n.read(nil, src, r); err != 0 {
		return dst, err
	}
	start := len(dst)
	dst, r.scratch.applied = n.appendURL(dst, src, &r.In, &r.Out, r.scratch.plain, r.scratch.rec)
	r.judge(src, dst[start:])
	return dst, nil
}

// unmade resets r and returns the error of a Normalizer that New did not make.
func unmade(r *Result) error {
	r.reset()
	r.In = URL{}
	return &OptionError{"the Normalizer was not made by New, Named or MustNamed"}
}

// appendBrowser is appendFull for WHATWG. base may be nil.
func (n *Normalizer) appendBrowser(dst []byte, base *baseURL, src []byte, r *Result) ([]byte, error) {
	r.reset()
	if len(src) > n.maxLen {
		r.In, r.ErrAt = URL{}, uint32(n.maxLen)
		return dst, ErrTooLong
	}
	start := len(dst)
	dst, err := n.appendWHATWG(dst, base, src, r)
	if err != 0 && n.rules.Has(RuleFallbackRFC) && !backslashInAuthority(src) {
		return n.appendFallback(dst, base, src, err, r)
	}
	if err != 0 {
		return dst, err
	}
	r.scratch.resolved = base != nil
	if n.rules.Has(RuleRFCClean) {
		dst = n.clean(dst, start, r)
	}
	r.scratch.unjudged = true
	if n.rules&lossyRules != 0 {
		dst = n.drop(dst, start, r)
	}
	return dst, nil
}

// grammar turns a URL serialized by WHATWG into a URI of RFC 3986 and changes
// nothing else.
var grammar = compile(Profile{Name: "grammar", Standard: RFC3986, Rules: RulesOf(RuleEncodeIllegal, RuleUpperEscapes), Malformed: percent.MalformedEncode})

// clean escapes the bytes that RFC 3986 does not allow in dst[start:], a URL
// serialized by WHATWG.
func (n *Normalizer) clean(dst []byte, start int, r *Result) []byte {
	s := &r.scratch
	s.key = append(s.key[:0], dst[start:]...)
	_, _ = split(s.key, &s.in) // cannot fail: every serialized URL can be split
	dst, applied := grammar.appendURL(dst[:start], s.key, &s.in, &r.Out, 0, nil)
	s.applied.set(RuleRFCClean, applied != 0)
	s.rec.compare(RuleRFCClean, s.key, &s.in, dst[start:], &r.Out)
	return dst
}

// read finds the components, flags and diagnostics of src, which is a relative
// reference if base is not empty.
func (n *Normalizer) read(base, src []byte, r *Result) Error {
	r.reset()
	if len(src) > n.maxLen {
		r.In = URL{}
		r.ErrAt = uint32(n.maxLen)
		return ErrTooLong
	}
	at, err := split(src, &r.In)
	if err != 0 {
		r.ErrAt = uint32(at)
	}
	if malformed := n.inspect(base, src, r); malformed >= 0 && n.profile.Malformed == percent.MalformedReject && err == 0 {
		r.ErrAt = uint32(malformed)
		err = ErrBadEscape
	}
	if err != 0 {
		r.undone()
	}
	return err
}

// appendURL appends the normal form of the URL that u describes in src, and
// fills out. If bit c of plain is set, component c contains no escape and no
// byte to escape. appendURL returns the rules that changed something. rec
// records their steps; it may be nil.
func (n *Normalizer) appendURL(dst, src []byte, u, out *URL, plain uint8, rec *recorder) ([]byte, ruleSet) {
	*out = URL{}
	w := writer{Normalizer: n, dst: dst, base: len(dst), src: src, in: u, out: out, plain: plain, changes: changes{rec: rec}}
	w.scheme()
	w.authority()
	w.path()
	w.tail(Query, '?')
	w.tail(Fragment, '#')
	return w.dst, w.applied
}

// A writer writes one normal form, component by component.
type writer struct {
	*Normalizer
	dst     []byte
	base    int // len(dst) at the start: offsets in out count from here
	src     []byte
	in, out *URL
	plain   uint8
	known   knownScheme
	changes
}

// changes records which rules changed something and, unless rec is nil, each
// change.
type changes struct {
	applied ruleSet // rules that changed something
	rec     *recorder
}

// rewrote records that r changed component c from before to after. Equal texts
// are not recorded.
func (w *changes) rewrote(r Rule, c Component, before, after []byte) {
	if !bytes.Equal(before, after) {
		w.applied |= 1 << r
		w.rec.change(r, c, before, after)
	}
}

// removed records that r removed component c.
func (w *writer) removed(r Rule, c Component) {
	w.applied |= 1 << r
	w.rec.remove(r, c, w.in.Bytes(w.src, c))
}

// note records that component c is dst[start:].
func (w *writer) note(c Component, start int) {
	w.out.set(c, start-w.base, len(w.dst)-w.base)
}

// escape appends component c with its escapes in normal form.
func (w *writer) escape(c Component) {
	start := len(w.dst)
	w.text(c)
	w.note(c, start)
}

// text appends the bytes of component c with their escapes in normal form.
func (w *writer) text(c Component) {
	text := w.in.Bytes(w.src, c)
	if w.plain>>c&1 != 0 {
		w.dst = append(w.dst, text...)
		return
	}
	dst, applied, _ := percent.AppendApplied(w.dst, text, w.escapes[c])
	w.dst = dst
	w.applied |= rfcApplied[applied]
	if w.rec != nil {
		w.rec.escapes(c, nil, text, w.escapes[c], applied, &rfcEscapes)
	}
}

func (w *writer) scheme() {
	if !w.in.Has(Scheme) {
		return
	}
	start := len(w.dst)
	raw := w.in.Bytes(w.src, Scheme)
	if w.rules.Has(RuleLowerScheme) {
		w.dst = appendLower(w.dst, raw)
		w.rewrote(RuleLowerScheme, Scheme, raw, w.dst[start:])
	} else {
		w.dst = append(w.dst, raw...)
	}
	w.note(Scheme, start)
	w.known = lookupScheme(w.dst[start:])
	w.dst = append(w.dst, ':')
}

func (w *writer) authority() {
	if !w.in.HasAuthority() {
		if w.rules.Has(RuleFileLocalhost) && w.known == schemeFile && hasPrefix(w.in.Bytes(w.src, Path), '/') {
			w.applied |= 1 << RuleFileLocalhost
			w.rec.add(RuleFileLocalhost, Host, nil)
			w.dst = append(w.dst, "//"...)
			w.out.flags |= hasAuthority
			w.note(Host, len(w.dst))
		}
		return
	}
	w.dst = append(w.dst, "//"...)
	w.out.flags |= hasAuthority
	w.credentials()
	w.host()
	w.port()
}

func (w *writer) credentials() {
	if !w.in.Has(Username) {
		return
	}
	empty := w.in.Span(Username).Len() == 0 && !w.in.Has(Password)
	if empty && w.rules.Has(RuleEmptyUserinfo) && w.known.isWeb() {
		w.removed(RuleEmptyUserinfo, Username)
		return
	}
	w.escape(Username)
	if w.in.Has(Password) {
		w.dst = append(w.dst, ':')
		w.escape(Password)
	}
	w.dst = append(w.dst, '@')
}

func (w *writer) host() {
	start := len(w.dst)
	switch w.in.kind {
	case HostIPv6, HostIPvFuture, HostBadLiteral:
		w.literal(w.in.Bytes(w.src, Host))
	default:
		w.text(Host)
		if w.rules.Has(RuleLowerHost) {
			before := w.rec.copyOf(w.dst[start:])
			if lowerInPlace(w.dst[start:]) {
				w.applied |= 1 << RuleLowerHost
				w.rec.change(RuleLowerHost, Host, before, w.dst[start:])
			}
		}
		if w.rules.Has(RuleASCIIDomain) && w.known.hasRoot() {
			w.asciiDomain(start)
		}
		if w.isLocalhostFile(w.dst[start:]) {
			w.rewrote(RuleFileLocalhost, Host, w.dst[start:], nil)
			w.dst = w.dst[:start]
		}
	}
	w.note(Host, start)
	_, _ = w.out.readHost(w.dst[w.base:]) // cannot fail: the host comes from a URL that was parsed
}

// asciiDomain replaces the percent-encoded domain dst[start:] with its ASCII
// form, if it contains non-ASCII characters and UTS 46 has an ASCII form for
// it.
func (w *writer) asciiDomain(start int) {
	host := w.dst[start:]
	if !hasEscapedNonASCII(host) {
		return
	}
	var buf [256]byte
	domain := percent.AppendDecode(buf[:0], host)
	dst, err := idna.AppendASCII(w.dst, domain)
	if err != nil || !isDomain(dst[len(w.dst):]) {
		return
	}
	before := w.rec.copyOf(host)
	ascii := append(buf[:0], dst[len(w.dst):]...)
	w.dst = percent.AppendEncode(dst[:start], ascii, percent.RFC3986Host) // UTS 46 permits '"'
	w.applied |= 1 << RuleASCIIDomain
	w.rec.change(RuleASCIIDomain, Host, before, w.dst[start:])
}

// hasEscapedNonASCII reports whether an escape in text encodes a byte of 0x80
// or above.
func hasEscapedNonASCII(text []byte) bool {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '%' && isTriplet(text[i:]) && percent.Unhex(text[i+1]) >= 8 {
			return true
		}
	}
	return false
}

// isDomain reports whether an ASCII domain is nonempty and contains no
// forbidden domain code point.
func isDomain(ascii []byte) bool {
	for _, c := range ascii {
		if forbiddenDomain[c] {
			return false
		}
	}
	return len(ascii) > 0
}

// isLocalhostFile reports whether the URL is a file URL with the host
// "localhost", which RFC 8089 §2 makes equivalent to an empty host.
func (w *writer) isLocalhostFile(host []byte) bool {
	return w.known == schemeFile && w.rules.Has(RuleFileLocalhost) && string(host) == "localhost" &&
		!w.in.Has(Username) && !w.keepsPort() && hasPrefix(w.in.Bytes(w.src, Path), '/')
}

// literal appends a host in brackets.
func (w *writer) literal(host []byte) {
	start := len(w.dst)
	var applied ruleSet
	w.dst, applied = appendLiteral(w.dst, host, &w.profile)
	w.applied |= applied
	w.rec.literal(host, &w.profile, applied)
	if w.in.kind != HostIPv6 || !w.rules.Has(RuleShortIPv6) {
		return
	}
	groups, _ := ip.ParseV6(host[1 : len(host)-1])
	var short [41]byte
	text := append(ip.AppendV6(append(short[:0], '['), groups), ']')
	w.rewrote(RuleShortIPv6, Host, w.dst[start:], text)
	w.dst = append(w.dst[:start], text...)
}

// appendLiteral appends a bracketed host, whether it is an IP literal of RFC
// 3986 §3.2.2 or not. No escape in it is decoded. Bytes that RFC 3986 allows
// nowhere in a URI are escaped even here, so that the result is ASCII.
func appendLiteral(dst, host []byte, p *Profile) (_ []byte, applied ruleSet) {
	for i, c := range host {
		switch {
		case c == '%' && !isTriplet(host[i:]) && p.Malformed == percent.MalformedEncode:
			dst = append(dst, "%25"...)
			applied |= 1 << ruleMalformed
		case isUpper(c) && p.Rules.Has(RuleLowerHost) && !inTriplet(host, i):
			dst = append(dst, lower(c))
			applied |= 1 << RuleLowerHost
		case p.Rules.Has(RuleUpperEscapes) && inTriplet(host, i):
			dst = append(dst, upperHex(c))
			applied.set(RuleUpperEscapes, upperHex(c) != c)
		case p.Rules.Has(RuleEncodeIllegal) && !isLiteralByte(c):
			dst = percent.AppendEncode(dst, host[i:i+1], percent.RFC3986Host)
			applied |= 1 << RuleEncodeIllegal
		default:
			dst = append(dst, c)
		}
	}
	return dst, applied
}

// isLiteralByte reports whether c is a bracket or may occur between brackets.
func isLiteralByte(c byte) bool {
	return class[c]&hostByte != 0 || c == ':' || c == '[' || c == ']' || c == '%'
}

func (w *writer) port() {
	if !w.keepsPort() {
		if w.in.Has(Port) {
			w.removed(RuleDefaultPort, Port)
		}
		return
	}
	digits := w.in.Bytes(w.src, Port)
	if w.rules.Has(RuleDefaultPort) {
		short := trimZeros(digits)
		w.rewrote(RuleDefaultPort, Port, digits, short)
		digits = short
	}
	w.dst = append(w.dst, ':')
	start := len(w.dst)
	w.dst = append(w.dst, digits...)
	w.note(Port, start)
	w.out.readPort(w.dst[w.base:])
}

// keepsPort reports whether there is a port that RuleDefaultPort does not remove.
func (w *writer) keepsPort() bool {
	if !w.in.Has(Port) || !w.rules.Has(RuleDefaultPort) {
		return w.in.Has(Port)
	}
	digits := trimZeros(w.in.Bytes(w.src, Port))
	return len(digits) > 0 && string(digits) != w.known.port()
}

// trimZeros removes leading zeros, except the last digit.
func trimZeros(digits []byte) []byte {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

func (w *writer) path() {
	start := len(w.dst)
	w.text(Path)
	if w.rules.Has(RuleRemoveDots) && w.in.Has(Scheme) && hasPrefix(w.dst[start:], '/') {
		before := w.rec.copyOf(w.dst[start:])
		if path := removeDots(w.dst[start:]); len(path) < len(w.dst)-start {
			w.applied |= 1 << RuleRemoveDots
			w.rec.change(RuleRemoveDots, Path, before, path)
			w.dst = w.dst[:start+len(path)]
		}
	}
	if w.rules.Has(RuleGuardPath) && !w.out.HasAuthority() {
		w.guard(start)
	}
	if w.rules.Has(RuleEmptyPath) && len(w.dst) == start && w.out.HasAuthority() && w.known.hasRoot() {
		w.dst = append(w.dst, '/')
		w.rewrote(RuleEmptyPath, Path, nil, w.dst[start:])
	}
	w.note(Path, start)
}

// guard keeps the path dst[start:], which follows no authority, from being parsed as an
// authority or, without a scheme, as a scheme (RFC 3986 §3.3, §4.2).
func (w *writer) guard(start int) {
	path := w.dst[start:]
	switch {
	case len(path) > 1 && path[0] == '/' && path[1] == '/':
		w.insert(start, "/.")
	case !w.in.Has(Scheme) && colonInFirstSegment(path) >= 0:
		w.insert(start, "./")
	}
}

func (w *writer) insert(at int, two string) {
	before := w.rec.copyOf(w.dst[at:])
	w.dst = append(w.dst, two...)
	copy(w.dst[at+len(two):], w.dst[at:])
	copy(w.dst[at:], two)
	w.applied |= 1 << RuleGuardPath
	w.rec.change(RuleGuardPath, Path, before, w.dst[at:])
}

// tail appends the query or the fragment.
func (w *writer) tail(c Component, delimiter byte) {
	if w.in.Has(c) {
		w.dst = append(w.dst, delimiter)
		w.escape(c)
	}
}
