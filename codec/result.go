package codec

// A Result is what a call has to say about one URL, together with the scratch
// space it needed. The zero Result is ready for use. Reuse it: each call
// overwrites it, and buffers grown for one URL serve the next. It belongs to
// one goroutine at a time. Nothing in it points into src or dst.
type Result struct {
	In     URL    // components of src
	Out    URL    // components of the appended normal form
	Flags  Flags  // what was noticed in src
	Marks  []Mark // where, in ascending order of offset; valid until the next call
	Change Change // how far the normal form is from src
	ErrAt  uint32 // where in src, if the call returned an Error

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
