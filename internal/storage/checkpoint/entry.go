package checkpoint

import "github.com/urlfold/urlfold/pipeline"

// A State is how far a file is.
type State string

// The states of a file.
const (
	Reading State = "reading" // there may be more
	Done    State = "done"    // read to its end
	Damaged State = "damaged" // read up to its damage

	// Quarantined: damage was found, Offset is the end of the verified records, and
	// nothing after it is emitted any more. The outputs may not be cut back yet.
	Quarantined State = "quarantined"
)

// An Entry is the checkpoint of one file. Offsets are those of the decompressed
// stream, in bytes. An Entry is a value and can be compared.
type Entry struct {
	Source string `json:"source"` // name of the source that it belongs to
	ID     string `json:"id"`     // of the lane: the same for as long as the content is
	Path   string `json:"path"`   // where the file was seen last
	Rel    string `json:"rel,omitempty"`

	// The file as it was seen last.
	Dev     uint64 `json:"dev"`
	Ino     uint64 `json:"ino"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"`           // Unix time in nanoseconds
	Changed int64  `json:"ctime,omitempty"` // the same, of the last change of content or inode; 0: not known
	Gen     int64  `json:"gen,omitempty"`   // how many contents this file has had before

	// What the content is known by: the hash of its first HeadLen bytes, and that
	// of the TailLen bytes before Offset.
	HeadLen int64  `json:"head_len"`
	Head    string `json:"head"`
	TailLen int64  `json:"tail_len"`
	Tail    string `json:"tail"`

	// The state of a hash over the text from HashFrom to Offset, as package
	// sources/file writes it. Empty: that text was not hashed.
	Hash     string `json:"hash,omitempty"`
	HashFrom int64  `json:"hash_from,omitempty"`

	Offset int64 `json:"offset"`           // everything before it is durable
	Line   int64 `json:"line"`             // number of the line that begins there, from 1
	Inside bool  `json:"inside,omitempty"` // Offset lies inside a record that is longer than the limit
	Left   int64 `json:"left,omitempty"`   // how many bytes of that record follow, if the record says so; 0: its end is looked for

	// The directive in force at Offset, of a format that has them: the columns of the
	// records after it. Empty: there is none, or it is to be found by reading.
	Directive string `json:"directive,omitempty"`

	Restart   int64  `json:"restart,omitempty"` // id of a restart point at or before Offset; 0: there is none
	State     State  `json:"state"`
	Verdict   string `json:"verdict,omitempty"`
	Rotated   bool   `json:"rotated,omitempty"`   // Path is not the name that the file was found under first
	Finishing bool   `json:"finishing,omitempty"` // it is done, and is yet to be deleted or moved
	Gone      int64  `json:"gone,omitempty"`      // Unix time in seconds when there was no such file any more; 0: there is
	Disposed  int64  `json:"disposed,omitempty"`  // Unix time in nanoseconds when it was deleted or moved by on_finish; 0: it was not
}

// valid reports whether the numbers of e can be those of a file.
func (e *Entry) valid() bool {
	switch e.State {
	case Reading, Done, Damaged, Quarantined:
	default:
		return false
	}
	return e.ID != "" && e.Offset >= 0 && e.Left >= 0 && e.Line >= 1 && e.Restart >= 0 && e.Gen >= 0 &&
		0 <= e.HeadLen && e.HeadLen <= e.Offset && 0 <= e.TailLen && e.TailLen <= e.Offset &&
		0 <= e.HashFrom && e.HashFrom <= e.Offset
}

// A Contents is all that a state holds.
type Contents struct {
	Entries []Entry
	Extents []pipeline.Extent
	Cuts    bool // see [Store.SetCuts]
}
