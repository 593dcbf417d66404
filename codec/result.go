package codec

import (
	"bytes"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec/internal/peer"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/ground/scan"
)

// A Result holds what a call found out about one URL, and the scratch space
// that the call needed. The zero Result is ready for use. Reuse it: each call
// overwrites it, and its buffers serve the next URL. A Result belongs to one
// goroutine at a time. Do not copy it: go vet reports copies.
//
// The methods of a Result describe the URL of the last successful
// [Normalizer.Append] or [Normalizer.AppendRef]. They read the src of that call
// and the normal form that it appended, so neither may change until the next
// call, as with bufio.Scanner.Bytes. After an error, or after [Parse], the
// methods return zero values. Built with the tag invariants, a Result panics if
// src or the normal form has changed, if there is no URL to describe, or if a
// call begins while a call of another goroutine fills it.
type Result struct {
	_           noCopy
	In          URL          // components of src
	Out         URL          // components of the appended normal form
	Flags       Flags        // defects and notable properties of src
	Diagnostics []Diagnostic // the defects, by ascending offset; valid until the next call
	ErrAt       uint32       // offset in src of the error, if the call returned an Error; 0 for ErrBase

	scratch scratch
}

// noCopy makes go vet report copies of the struct that holds it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// A Change classifies how far a normal form is from its input, by the RFC 3986
// keys of the input and of the normal form.
type Change uint8

// The classes of change, from none to most.
const (
	ChangeUnchanged   Change = iota // the same bytes
	ChangeCosmetic                  // the same K0
	ChangeSchemeEqual               // the same K1
	ChangeRepaired                  // the WHATWG parser merged URLs that RFC 3986 keeps apart
	ChangeLossy                     // the profile removed a part, or its program merged URLs that RFC 3986 keeps apart
)

var changeNames = []string{"unchanged", "cosmetic", "scheme-equal", "repaired", "lossy"}

// String returns the name used in output, such as "cosmetic", or "unknown".
func (c Change) String() string { return nameOf(c, changeNames) }

// scratch is the work space of a call, reused by the next.
type scratch struct {
	call
	by        *Normalizer      // the Normalizer of the last call that gave a normal form
	src, norm []byte           // input of that call, and the normal form it appended
	seal      seal             // checksum of src and norm
	marks     []Diagnostic     // marks of the current component
	defects   []percent.Defect // defects of the current component
	in, out   URL              // components of a text other than the input: a resolved target, a key
	lead      uint32           // number of bytes trimmed in front of the cleaned text
	end       uint32           // where the cleaned text ends in src
	gaps      []uint32         // offsets of the tabs and newlines removed from the cleaned text
	cuts      []Diagnostic     // diagnostics for the trimmed and removed bytes, with offsets in src
	parsed    []Diagnostic     // validation errors of the parser, with offsets in the cleaned text
	cleaned   []byte           // the cleaned text, if it is not a subslice of src
	host      []byte           // a host, percent-decoded or mapped
	base      *baseURL         // the last base parsed by WHATWG
	text      []byte           // the resolved reference, if resolved is set
	key       []byte           // K0 or K1, if that is not the normal form
	input     []byte           // the input of AppendString
	k2, k3    []byte           // canonical strings of these levels
	query     []byte           // a query being rewritten for K2
	full      []byte           // the full serialized URL, if the normal form omits parts of it
	whole     URL              // components of full, if dropped is set
	other     *Result          // result of parsing by the other standard
	hosts     *hostScratch     // scratch of the host comparison
	text2     []byte           // a component being converted to NFC
	runes     [2][]rune        // a part of text2
	params    params.Scratch
	survey    scan.Survey // survey of the URL that parseClean parsed last
	front     []byte      // scheme and authority of the last URL that Keeps accepted
	mac       *keyedHash  // for HMAC keys
	spare     []uint32    // like kept, for a text whose offsets are not needed
	kept      []uint32    // offsets in the serialized URL of bytes that RFC 3986 does not allow, if patched

	matched *match             // the program that peer reproduces
	peer    peer.Canonicalizer // reproduces matched

	rec *recorder // set by Trace and TraceKey, otherwise nil
}

// call holds what a call notes about its URL. Each call starts with a zero
// call. The struct is small and contains no pointers, so that clearing it takes
// one or two stores.
type call struct {
	applied    ruleSet // rules that changed something up to the normal form
	keyHits    ruleSet // rules of K2 and K3 that changed something
	change     Change  // if judged
	plain      uint8   // bit c: component c has no escape and no byte to escape
	answered   bool    // the call gave a normal form: by, src and norm belong to it
	unjudged   bool    // change is not set: Result.Change computes it
	dropped    bool    // full and whole are set
	clean      bool    // the input was clean: it is its own canonical string
	plainHost  bool    // the host is a name of nonempty labels of letters, digits and hyphens, and the last label is not a number
	plainPath  bool    // the path contains nothing that webClasses marks, such as a session id or two adjacent slashes
	copied     bool    // the input is clean, plainHost and plainPath are set, and survey.Copy starts with the input
	canonical  bool    // the serialized URL is its own canonical string
	keyPatched bool    // K0 and K1 are in key, with the bytes at kept escaped
	patched    bool    // the serialized URL is its own canonical string once the bytes at kept are escaped
	fallback   bool    // WHATWG could not parse the input: this is the RFC 3986 result
	unparsed   bool    // only the program of the profile can parse the input
	resolved   bool    // the input was a relative reference: text is the resolved reference
}

// keepBytes is the largest capacity in bytes of a buffer that a Result keeps
// from call to call.
const keepBytes = 64 << 10

// begin prepares r for another URL that is not longer than keepBytes.
func (r *Result) begin() {
	r.Out = URL{}
	r.Flags, r.Diagnostics, r.ErrAt = Flags{}, r.Diagnostics[:0], 0
	s := &r.scratch
	s.call, s.kept = call{}, s.kept[:0]
}

// reset prepares r for another URL, and drops large buffers.
func (r *Result) reset() {
	r.begin()
	s := &r.scratch
	if max(cap(s.text), cap(s.key), cap(s.k2), cap(s.k3), cap(s.query), cap(s.full), cap(s.cleaned), cap(s.host), cap(s.text2)) <= keepBytes {
		return
	}
	for _, b := range []*[]byte{&s.text, &s.key, &s.k2, &s.k3, &s.query, &s.full, &s.cleaned, &s.host, &s.text2} {
		if cap(*b) > keepBytes {
			*b = nil
		}
	}
}

// setClean fills r for a URL r.In that is its own normal form and has no flag; o is what
// parseClean returned.
func (r *Result) setClean(o opening) {
	r.Out = r.In
	r.Flags, r.Diagnostics, r.ErrAt = Flags{}, r.Diagnostics[:0], 0
	host, path := r.In.kind == HostRegName, o.special >= int(r.In.spans[Path].End)
	r.scratch.call = call{clean: true, plainHost: host, plainPath: path, copied: host && path && o.path > 0}
}

// markEntity records the first "&amp;" of a query, if there is one: at is not negative.
func (r *Result) markEntity(at int) {
	if at < 0 {
		return
	}
	r.Flags = r.Flags.With(FlagHTMLEntity)
	r.Diagnostics = append(r.Diagnostics, Diagnostic{At: uint32(at), Flag: FlagHTMLEntity, Component: Query, Action: ActionKept})
}

// noteSigned sets the flag of signed URLs if signed is set.
func (r *Result) noteSigned(signed bool) {
	if signed {
		r.Flags = r.Flags.With(FlagSignedURL)
	}
}

// remember stores what the methods of r need to describe the URL.
func (r *Result) remember(n *Normalizer, src, norm []byte) {
	s := &r.scratch
	s.by, s.src, s.norm, s.answered = n, src, norm, true
	s.seal.set(src, norm)
}

// asked returns the scratch of r, and whether r describes a URL.
func (r *Result) asked() (s *scratch, ok bool) {
	s = &r.scratch
	s.seal.check(s.answered, s.src, s.norm)
	return s, s.answered
}

// Key returns the key of the URL at a level: the hash of the canonical string
// that AppendKey appends. It is the zero Key if r describes no URL.
func (r *Result) Key(lv Level) Key {
	s, ok := r.asked()
	if !ok {
		return Key{}
	}
	text, lv := s.src, s.by.keyLevel(lv)
	switch {
	case s.clean && lv <= LevelEquivalent:
	case s.copied && lv == LevelFetch && len(s.by.policy.SPA) == 0:
		text = s.by.plainK2(text, s.survey.Copy, &r.In, r)
	default:
		if text, ok = r.canonicalText(lv); !ok {
			return Key{}
		}
	}
	if h := &s.by.hasher; h.hash == XXH3 {
		return keyOfHash(xxh3.Hash128Seed(text, h.seeds[lv])) // h.key, inlined
	}
	return s.by.hasher.key(lv, text, s)
}

// Part returns the bytes of component c of the normal form. The result is a part of the
// slice to which the normal form was appended, not a copy. It is nil if c is absent or
// r describes no URL.
func (r *Result) Part(c Component) []byte {
	s, ok := r.asked()
	if !ok {
		return nil
	}
	return r.Out.Bytes(s.norm, c)
}

// canonicalText returns the canonical string of a level, and whether the URL
// has one. Key calls it unless Key itself finds the string faster. For common
// URLs it makes fewer checks than [Normalizer.canonical].
func (r *Result) canonicalText(lv Level) (text []byte, ok bool) {
	s := &r.scratch
	switch {
	case (s.canonical || s.patched) && !s.dropped && lv <= LevelEquivalent && s.by.keys == WHATWG:
		return s.patchedKey(s.norm), true
	case s.copied && lv == LevelPage && len(s.by.policy.SPA) == 0 && !s.by.policy.rewritesK3():
		return s.by.plainK3(s.src, s.survey.Copy, &r.In, r), true
	case !r.hasKey(lv):
		return nil, false
	case lv == LevelFetch || lv == LevelPage:
		return s.by.lossy(lv, r), true
	}
	return s.by.canonical(lv, s.src, s.norm, r), true
}

// TargetKey is [Result.Key] for the canonical string without prefix, a scheme and
// a host. ok is false, and the key zero, if the string does not begin with
// prefix, or if "//" follows, which would begin a host.
// Not covered by the stability page.
func (r *Result) TargetKey(lv Level, prefix []byte) (k Key, ok bool) {
	s, answered := r.asked()
	if !answered {
		return Key{}, false
	}
	if lv = s.by.keyLevel(lv); !r.hasKey(lv) {
		return Key{}, false
	}
	canonical := s.src
	if !s.clean || lv > LevelEquivalent {
		canonical = s.by.canonical(lv, s.src, s.norm, r)
	}
	n := len(prefix)
	if len(canonical) <= n || string(canonical[:n]) != string(prefix) || canonical[n] == '/' && len(canonical) > n+1 && canonical[n+1] == '/' {
		return Key{}, false
	}
	return s.by.hasher.key(lv, canonical[n:], s), true
}

// HasKey reports whether r describes a URL with a key of a level. A URL has the
// keys K0 to K3 and LevelShape, unless only the program that the profile
// reproduces can parse it. It has a key of LevelMatch only if Profile.Match is
// set. Not covered by the stability page.
func (r *Result) HasKey(lv Level) bool {
	s := &r.scratch
	return s.answered && r.hasKey(s.by.keyLevel(lv))
}

func (r *Result) hasKey(lv Level) bool {
	s := &r.scratch
	if lv < numLevels || lv == LevelShape {
		return !s.unparsed
	}
	return lv == LevelMatch && s.by.match != nil
}

// AppendKey appends the canonical string of a level, which Key hashes. For K0
// it is the normal form of RFC 3986 §6.2.2 and for K1 of §6.2.3, whatever rules
// the profile has. AppendKey appends nothing if r describes no URL.
func (r *Result) AppendKey(dst []byte, lv Level) []byte {
	s, ok := r.asked()
	if !ok {
		return dst
	}
	return append(dst, s.by.canonical(s.by.keyLevel(lv), s.src, s.norm, r)...)
}

// HashKey hashes a canonical string that the caller derived from the output of
// AppendKey, with the hash and the secret of the same Normalizer.
// Not covered by the stability page.
func (r *Result) HashKey(lv Level, canonical []byte) Key {
	s, ok := r.asked()
	if !ok {
		return Key{}
	}
	if lv = s.by.keyLevel(lv); !r.hasKey(lv) {
		return Key{}
	}
	return s.by.hasher.key(lv, canonical, s)
}

// Change classifies how far the normal form is from the input. A relative
// reference is compared by its resolved target. With the WHATWG standard the
// call takes about as long as normalizing the URL four times.
func (r *Result) Change() Change {
	s, ok := r.asked()
	if ok && s.unjudged {
		s.change, s.unjudged = s.compare(s.src, s.norm), false
	}
	return s.change
}

// Applied returns the rules that changed something on the way to the normal
// form. They are recorded while the normal form is written, so the call is
// cheap. A rule counts even if a later rule removed its result: for example, it
// decoded an escape in a segment that ".." then removed.
func (r *Result) Applied() Rules {
	s, ok := r.asked()
	if !ok {
		return Rules{}
	}
	if s.applied != 0 && bytes.Equal(s.src, s.norm) {
		return Rules{} // the rules cancelled each other out
	}
	return Rules{s.applied}
}

// KeyApplied returns the rules that changed something on the way from K1 to the
// canonical strings of K2, K3 and LevelShape, for the levels that AppendKey and
// Key have computed since the last call of Append. They are the rules that
// TraceKey reports. K3 and LevelShape are computed from K2, so their sets include
// the rules of K2. Not covered by the stability page.
func (r *Result) KeyApplied() Rules { return Rules{r.scratch.keyHits} }

// judge sets the class of the change from text to its normal form.
func (r *Result) judge(text, normal []byte) {
	switch {
	case bytes.Equal(text, normal):
		r.scratch.change = ChangeUnchanged
	case r.scratch.applied&schemeRules != 0:
		r.scratch.change = ChangeSchemeEqual
	default:
		r.scratch.change = ChangeCosmetic
	}
}

// Valid reports whether src matches the grammar of RFC 3986, as a URI or as a
// relative reference (§4.1); r.Flags.Has(FlagRelative) distinguishes the two. The
// result is meaningful only if the last call returned no error.
// Not covered by the stability page.
func (r *Result) Valid() bool { return r.Flags.Intersect(violations).IsZero() }
