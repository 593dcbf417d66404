package disk

// RecordEnv is the environment variable that names the file to which a process
// built with the tag faults appends a line for each operation of this package that
// changes a file or a name, in the order in which they took effect. See [Op].
const RecordEnv = "URLFOLD_RECORD"

// An Op is one line of a record: a JSON object.
type Op struct {
	// Op is create, open, write, truncate, sync, rename, link, remove, mkdir or
	// syncdir.
	Op string `json:"op"`
	// ID is that of an open file: create and open give it, the others name it.
	ID int64 `json:"id,omitempty"`
	// Path is absolute. Of rename and link it is the old name.
	Path string `json:"path,omitempty"`
	// To is the new name, absolute.
	To string `json:"to,omitempty"`
	// Off is where Data was written, or the size after truncate.
	Off  int64  `json:"off,omitempty"`
	Data []byte `json:"data,omitempty"`
}

type op = Op
