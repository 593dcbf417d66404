package checkpoint

import "github.com/urlfold/urlfold/pipeline/engine"

// A State is the processing state of a file.
type State string

// The states of a file.
const (
	Reading State = "reading" // not known to be complete
	Done    State = "done"    // read to the end
	Damaged State = "damaged" // read up to its damage

	// Quarantined means that damage was found, that Offset is the end of the
	// verified records, and that nothing beyond Offset is emitted any more. The
	// outputs may not have been truncated yet.
	Quarantined State = "quarantined"
)

// An Entry is the checkpoint of one file. Offsets are byte offsets in the
// decompressed stream. Entries are values and can be compared with ==.
type Entry struct {
	Source string `json:"source"` // name of the source that reads the file
	ID     string `json:"id"`     // id of the lane; stays the same as long as the content does
	Path   string `json:"path"`   // last known path of the file
	Rel    string `json:"rel,omitempty"`

	// Attributes of the file when it was last seen.
	Dev     uint64 `json:"dev"`
	Ino     uint64 `json:"ino"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime,omitempty"` // Unix time in nanoseconds
	Changed int64  `json:"ctime,omitempty"` // last change of content or inode, Unix time in nanoseconds; 0: unknown
	Gen     int64  `json:"gen,omitempty"`   // number of earlier contents of this file

	// Fingerprint of the content: the hash of its first HeadLen bytes, and the
	// hash of the TailLen bytes before Offset.
	HeadLen int64  `json:"head_len,omitempty"`
	Head    string `json:"head,omitempty"`
	TailLen int64  `json:"tail_len,omitempty"`
	Tail    string `json:"tail,omitempty"`

	// State of a running hash over the text from HashFrom to Offset, in the
	// form of package sources/file. Empty: that text was not hashed.
	Hash     string `json:"hash,omitempty"`
	HashFrom int64  `json:"hash_from,omitempty"`

	Offset int64 `json:"offset"`           // everything up to here is durable
	Line   int64 `json:"line"`             // number of the line that begins at Offset, from 1
	Inside bool  `json:"inside,omitempty"` // Offset is inside a record that exceeds the size limit
	Left   int64 `json:"left,omitempty"`   // remaining bytes of that record, if the record has a length; 0: search where it ends

	// Open describes the quoted cells before Offset that do not end; nil: all
	// of them end.
	Open *OpenQuotes `json:"open_quotes,omitempty"`

	// Directive in force at Offset, for formats that have them: the columns of
	// the records that follow. Empty if the format has none, or if it must be
	// found by reading.
	Directive string `json:"directive,omitempty"`

	Restart   int64  `json:"restart,omitempty"` // id of a restart point at or before Offset; 0: none
	State     State  `json:"state"`
	Verdict   string `json:"verdict,omitempty"`
	Rotated   bool   `json:"rotated,omitempty"`   // Path differs from the name under which the file was first found
	Finishing bool   `json:"finishing,omitempty"` // the file is done, but not yet deleted or moved
	Gone      int64  `json:"gone,omitempty"`      // when the file disappeared, Unix time in seconds; 0: it exists
	Disposed  int64  `json:"disposed,omitempty"`  // when on_finish deleted or moved the file, Unix time in nanoseconds; 0: it did not
}

// OpenQuotes describes lines of a table in which a quoted cell begins and does
// not end.
type OpenQuotes struct {
	Offset int64 `json:"offset"` // offset in the text of the first line with an open cell
	Line   int64 `json:"line"`   // number of that line, from 1
	Number int64 `json:"number"` // number of such lines
}

// valid reports whether the values of e are possible for a file.
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

// A Contents holds everything in a state.
type Contents struct {
	Entries []Entry
	Extents []engine.Extent
	Cuts    bool   // see [Store.SetCuts]
	Keys    string // see [Store.Keys]
}
