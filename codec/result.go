package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
)

// A Result is what a call has to say about one URL, together with the scratch
// space it needed. The zero Result is ready for use. Reuse it: each call
// overwrites it, and buffers grown for one URL serve the next. It belongs to
// one goroutine at a time. Nothing in it points into src or dst.
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

var changeNames = [...]string{"unchanged", "cosmetic", "scheme-equal", "repaired", "lossy"}

// String returns the class's name as it appears in output: "cosmetic".
func (c Change) String() string {
	if int(c) < len(changeNames) {
		return changeNames[c]
	}
	return "unknown"
}

// scratch is the work space of a call, kept for the next one.
type scratch struct {
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
	change    Change           // of the last call, if judged
	judged    bool             // else Normalizer.Change has to find out
	other     *Result          // of the other reading
	hosts     *hostScratch     // of comparing hosts
	text2     []byte           // a component on its way to NFC
	runes     [2][]rune        // a part of it
	pairs     []params.Pair    // of a query
	params    params.Scratch
	mac       *keyedHash // for HMAC keys
	ladder    *ladder    // of Normalizer.Hits
	keyHits   Rules      // of K2 and K3, since the last URL
	kept      []uint32   // offsets in the serialized URL of the bytes that RFC 3986 does not allow, if patched
	plain     uint8      // bit c: component c has no escape and no byte to escape
	dropped   bool       // full is set
	clean     bool       // the input was clean: it is its own canonical string
	canonical bool       // the serialized URL is
	patched   bool       // the serialized URL is, but for the bytes kept
	fallback  bool       // the whatwg reading had no answer: this is the rfc reading
	resolved  bool       // the input was a reference: text is what was normalized
	scheme    bool       // a rule of RFC 3986 §6.2.3 changed something
}

// keepBytes is how large a buffer of a Result may stay from call to call.
const keepBytes = 64 << 10

// reset makes r ready for another URL.
func (r *Result) reset() {
	r.Out = URL{}
	r.Flags, r.Diagnostics, r.ErrAt = Flags{}, r.Diagnostics[:0], 0
	s := &r.scratch
	s.clean, s.canonical, s.patched, s.fallback, s.resolved, s.scheme, s.dropped = false, false, false, false, false, false, false
	s.plain, s.kept, s.keyHits = 0, s.kept[:0], 0
	s.change, s.judged = Unchanged, true
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
	s := &r.scratch
	s.clean, s.canonical, s.patched, s.fallback, s.resolved, s.scheme, s.dropped = true, false, false, false, false, false, false
	s.change, s.judged, s.keyHits = Unchanged, true, 0
	if entity >= 0 {
		r.Flags = r.Flags.With(HTMLEntity)
		r.Diagnostics = append(r.Diagnostics, Diagnostic{At: uint32(entity), Flag: HTMLEntity, Component: Query, Action: Kept})
	}
}

// judge sets the class of change from text to its normal form.
func (r *Result) judge(text, normal []byte) {
	switch {
	case bytes.Equal(text, normal):
		r.scratch.change = Unchanged
	case r.scratch.scheme:
		r.scratch.change = SchemeEqual
	default:
		r.scratch.change = Cosmetic
	}
}

// Valid reports whether src matches the grammar of RFC 3986, as a URI or as a
// relative reference (§4.1); r.Flags.Has(Relative) tells which. It speaks of the
// last call, if that returned no error.
func (r *Result) Valid() bool { return r.Flags.Intersect(violations).IsZero() }
