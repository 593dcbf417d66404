package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
)

// A Result is what a call has to say about one URL, together with the scratch
// space it needed. The zero Result is ready for use. Reuse it: each call
// overwrites it, and buffers grown for one URL serve the next. It belongs to
// one goroutine at a time.
//
// Its methods answer questions about the URL of the last call of
// [Normalizer.Append] or [Normalizer.AppendRef]. They need the src of that call and
// the normal form that it has appended, so these must not change before the next
// call: as with bufio.Scanner.Bytes, answers hold until then. After an error, or a
// call of [Parse], there is no URL to ask about, and the answers are zero. Built
// with the tag invariants, a Result panics when it is asked about what has changed
// or is not there.
type Result struct {
	In          URL          // components of src
	Out         URL          // components of the appended normal form
	Flags       Flags        // what was noticed in src
	Diagnostics []Diagnostic // where, in ascending order of offset; valid until the next call
	ErrAt       uint32       // where in src, if the call returned an Error

	scratch scratch
}

// A Change says how far a normal form is from its input, judged by the keys of
// the rfc reading.
type Change uint8

// The classes of change, from none to most.
const (
	Unchanged   Change = iota // the same bytes
	Cosmetic                  // the same K0
	SchemeEqual               // the same K1
	Repaired                  // the browser's reading changed what the RFC keeps apart
	Lossy                     // a policy rule removed something
)

var changeNames = []string{"unchanged", "cosmetic", "scheme-equal", "repaired", "lossy"}

// String returns the class's name as it appears in output: "cosmetic".
func (c Change) String() string { return nameOf(c, changeNames) }

// ParseChange returns the class of that name.
func ParseChange(name string) (Change, error) { return parseName[Change]("change", name, changeNames) }

// scratch is the work space of a call, kept for the next one.
type scratch struct {
	call
	by        *Normalizer      // of the last call
	src, norm []byte           // what it was given and what it has appended
	seal      seal             // of these two
	marks     []Diagnostic     // of the component in hand
	defects   []percent.Defect // of the component in hand
	in, out   URL              // of a text that is not the input: a target, a key
	lead      uint32           // bytes cut off in front of the cleaned text
	end       uint32           // where it ends in src
	gaps      []uint32         // offsets of the bytes taken out of it
	cuts      []Diagnostic     // for both, with offsets in src
	parsed    []Diagnostic     // the validation errors of the parser, with offsets in the cleaned text
	cleaned   []byte           // the cleaned text, if it is not a part of src
	host      []byte           // a host, percent-decoded or mapped
	base      *baseURL         // the last base of the whatwg reading
	text      []byte           // the resolved reference, if resolved is set
	key       []byte           // K0 or K1, if that is not the normal form
	k2, k3    []byte           // the canonical strings of these levels
	query     []byte           // a query on its way to K2
	full      []byte           // the whole serialized URL, if the normal form leaves out parts of it
	whole     URL              // components of full, if dropped is set
	other     *Result          // of the other reading
	hosts     *hostScratch     // of comparing hosts
	text2     []byte           // a component on its way to NFC
	runes     [2][]rune        // a part of it
	pairs     []params.Pair    // of a query
	params    params.Scratch
	mac       *keyedHash // for HMAC keys
	kept      []uint32   // offsets in the serialized URL of the bytes that RFC 3986 does not allow, if patched

	rec *recorder // of Trace and TraceKey; else nil
}

// call is what a call notes about its URL. Each call begins with a new one: it holds
// no pointers, and is small, so that this is one store or two.
type call struct {
	applied   Rules  // on the way to the normal form
	keyHits   Rules  // of K2 and K3
	change    Change // if judged
	plain     uint8  // bit c: component c has no escape and no byte to escape
	answered  bool   // the call gave a normal form: src, norm and by are its own
	unjudged  bool   // Result.Change has to find out
	dropped   bool   // full is set
	clean     bool   // the input was clean: it is its own canonical string
	canonical bool   // the serialized URL is
	patched   bool   // the serialized URL is, but for the bytes kept
	fallback  bool   // the whatwg reading had no answer: this is the rfc reading
	resolved  bool   // the input was a reference: text is what was normalized
}

// keepBytes is how large a buffer of a Result may stay from call to call.
const keepBytes = 64 << 10

// reset makes r ready for another URL.
func (r *Result) reset() {
	r.Out = URL{}
	r.Flags, r.Diagnostics, r.ErrAt = Flags{}, r.Diagnostics[:0], 0
	s := &r.scratch
	s.call, s.kept = call{}, s.kept[:0]
	if max(cap(s.text), cap(s.key), cap(s.k2), cap(s.k3), cap(s.query), cap(s.full), cap(s.cleaned), cap(s.host), cap(s.text2)) <= keepBytes {
		return
	}
	for _, b := range []*[]byte{&s.text, &s.key, &s.k2, &s.k3, &s.query, &s.full, &s.cleaned, &s.host, &s.text2} {
		if cap(*b) > keepBytes {
			*b = nil
		}
	}
}

// setClean fills r for a URL r.In that is its own normal form and has no flag but
// HTMLEntity, if entity is the offset of one.
func (r *Result) setClean(entity int) {
	r.Out = r.In
	r.Flags, r.Diagnostics, r.ErrAt = Flags{}, r.Diagnostics[:0], 0
	r.scratch.call = call{clean: true}
	if entity >= 0 {
		r.Flags = r.Flags.With(HTMLEntity)
		r.Diagnostics = append(r.Diagnostics, Diagnostic{At: uint32(entity), Flag: HTMLEntity, Component: Query, Action: Kept})
	}
}

// remember keeps what questions about the URL need.
func (r *Result) remember(n *Normalizer, src, norm []byte) {
	s := &r.scratch
	s.by, s.src, s.norm, s.answered = n, src, norm, true
	s.seal.set(src, norm)
}

// asked returns the scratch of a Result that is asked about its URL, and whether
// there is one.
func (r *Result) asked() (s *scratch, ok bool) {
	s = &r.scratch
	s.seal.check(s.answered, s.src, s.norm)
	return s, s.answered
}

// Key returns the key of the URL: the hash of the canonical string of a level; see
// AppendKey.
func (r *Result) Key(lv Level) Key {
	s, ok := r.asked()
	switch {
	case !ok:
		return Key{}
	case s.clean && lv <= K1:
		return s.by.hasher.key(lv, s.src, s)
	}
	return s.by.hasher.key(lv, s.by.canonical(lv, s.src, s.norm, r), s)
}

// AppendKey appends the canonical string of a level: the bytes that Key hashes. K0
// is the normal form of RFC 3986 §6.2.2 and K1 that of §6.2.3, whatever the
// profile.
func (r *Result) AppendKey(dst []byte, lv Level) []byte {
	s, ok := r.asked()
	if !ok {
		return dst
	}
	return append(dst, s.by.canonical(lv, s.src, s.norm, r)...)
}

// HashKey returns the Key of a canonical string that was made of one of
// AppendKey's, by the hash of the same Normalizer.
func (r *Result) HashKey(lv Level, canonical []byte) Key {
	s, ok := r.asked()
	if !ok {
		return Key{}
	}
	return s.by.hasher.key(lv, canonical, s)
}

// Change says how far the normal form is from the input. A reference is judged by
// its target. In the WHATWG standard the answer takes as long as normalizing four
// times.
func (r *Result) Change() Change {
	s, ok := r.asked()
	if ok && s.unjudged {
		s.change, s.unjudged = s.compare(s.src, s.norm), false
	}
	return s.change
}

// Applied returns the rules that have changed something on the way to the normal
// form. The writers note them while they write, so that it takes no time to ask. A
// rule counts also if what it changed was left out in the end, as the escapes of a
// segment in front of "..".
func (r *Result) Applied() Rules {
	s, ok := r.asked()
	if !ok {
		return 0
	}
	if s.applied != 0 && bytes.Equal(s.src, s.norm) {
		return 0 // one has undone what another did
	}
	return s.applied
}

// KeyApplied returns the rules that have changed something on the way from K1 to
// the canonical strings of K2 and K3: those that TraceKey names, for the levels
// that AppendKey and Key have made of the URL so far. K3 is made of K2, so its
// rules are with those of K2.
func (r *Result) KeyApplied() Rules { return r.scratch.keyHits }

// judge sets the class of change from text to its normal form.
func (r *Result) judge(text, normal []byte) {
	switch {
	case bytes.Equal(text, normal):
		r.scratch.change = Unchanged
	case r.scratch.applied&schemeRules != 0:
		r.scratch.change = SchemeEqual
	default:
		r.scratch.change = Cosmetic
	}
}

// Valid reports whether src matches the grammar of RFC 3986, as a URI or as a
// relative reference (§4.1); r.Flags.Has(Relative) tells which. It speaks of the
// last call, if that returned no error.
func (r *Result) Valid() bool { return r.Flags.Intersect(violations).IsZero() }
