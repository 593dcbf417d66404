package disk

// RecordEnv is the environment variable that names the record file. A process
// built with the tag faults appends a line to that file for each operation of
// this package that changes a file or a name, in the order in which the
// operations take effect. See [Op].
const RecordEnv = "URLFOLD_RECORD"

// An Op is one line of a record: a JSON object.
type Op struct {
	// Op is create, open, write, truncate, sync, rename, link, remove, mkdir or
	// syncdir.
	Op string `json:"op"`
	// ID identifies an open file: create and open assign it, the others refer
	// to it.
	ID int64 `json:"id,omitempty"`
	// Path is absolute. For rename and link it is the old name.
	Path string `json:"path,omitempty"`
	// To is the new name, absolute.
	To string `json:"to,omitempty"`
	// Off is the offset at which Data was written, or the size after truncate.
	Off  int64  `json:"off,omitempty"`
	Data []byte `json:"data,omitempty"`
}

type op = Op
