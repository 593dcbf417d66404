package chaos

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// This file is structured in the following way:
//
//   - Disk: a model of the content of a disk while a program runs.
//   - Apply: the operations of a program.
//   - Cut: the state after a power loss.

// A Disk is a model of a folder on a disk that loses power. It guarantees only
// what POSIX does: the content of a file is durable after fsync of the file, a
// name after fsync of its folder. It is stricter than journaling file systems,
// which also preserve the order of some operations.
type Disk struct {
	// Ignore reports which syncs do nothing. It is used by controls, which must
	// fail. Default: none.
	Ignore func(op *disk.Op) bool

	root    string
	keep    string // folder with second names of the initial files
	live    map[string]*inode
	durable map[string]*inode
	pending map[string][]*change // changes of names since the last sync, by folder
	open    map[int64]*inode
}

// An inode is a file or a folder.
type inode struct {
	folder  bool
	origin  string // second name of an initial file that was not changed
	live    []byte
	synced  []byte
	pending []disk.Op // writes and truncations since the last sync
}

// A change is a change of names in one folder that takes effect as a whole or
// not at all.
type change struct {
	names map[string]*inode // nil: the name is removed
	// after is set in the removal of the old name by a rename between folders.
	// It is the change in the folder toDir that adds the new name, and takes
	// effect whenever this change does.
	after *change
	toDir string
}

// NewDisk returns a model of the folder root in its current state, all of which
// counts as durable. The files in inputs get a second name in the folder keep,
// so that Cut can restore them with the same inode.
func NewDisk(root, inputs, keep string) (*Disk, error) {
	d := &Disk{root: root, keep: keep, live: map[string]*inode{}, durable: map[string]*inode{}, pending: map[string][]*change{}, open: map[int64]*inode{}}
	if err := os.MkdirAll(keep, 0o755); err != nil {
		return nil, err
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		n := &inode{folder: e.IsDir()}
		if !n.folder {
			if strings.HasPrefix(path, inputs+"/") {
				n.origin = filepath.Join(keep, fmt.Sprint(len(d.live)))
				if err := os.Link(path, n.origin); err != nil {
					return err
				}
			}
			if n.live, err = os.ReadFile(path); err != nil {
				return err
			}
			n.synced = n.live
		}
		d.live[path], d.durable[path] = n, n
		return nil
	})
	return d, err
}

// Clone returns a copy of d, to which nothing may have been applied yet.
func (d *Disk) Clone() *Disk {
	c := *d
	c.live, c.durable = map[string]*inode{}, map[string]*inode{}
	c.pending, c.open = map[string][]*change{}, map[int64]*inode{}
	for path, n := range d.live {
		other := *n
		c.live[path], c.durable[path] = &other, &other
	}
	return &c
}

// ReadOps returns the operations that a program has recorded: see
// disk.RecordEnv. An incomplete last line is ignored.
func ReadOps(path string) (ops []disk.Op, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened only for reading
	dec := json.NewDecoder(bufio.NewReader(f))
	for {
		var op disk.Op
		err := dec.Decode(&op)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return ops, nil
		case err != nil:
			return nil, err
		}
		ops = append(ops, op)
	}
}

// errModel is returned for an operation that is impossible in the model.
var errModel = errors.New("the recorded operation does not match the folder")

// Apply applies an operation. Operations outside the folder are ignored.
func (d *Disk) Apply(op *disk.Op) error {
	if op.Path != "" && op.Path != d.root && !strings.HasPrefix(op.Path, d.root+"/") {
		return nil
	}
	switch op.Op {
	case "create":
		n := &inode{}
		d.open[op.ID] = n
		d.name(op.Path, n)
	case "open":
		if d.open[op.ID] = d.live[op.Path]; d.open[op.ID] == nil {
			return fmt.Errorf("open %s: %w", op.Path, errModel)
		}
	case "mkdir":
		d.name(op.Path, &inode{folder: true})
	case "remove":
		d.name(op.Path, nil)
	case "link", "rename":
		return d.rename(op)
	case "syncdir":
		if d.Ignore == nil || !d.Ignore(op) {
			d.syncDir(op.Path)
		}
	default:
		return d.content(op)
	}
	return nil
}

// content applies an operation on an open file.
func (d *Disk) content(op *disk.Op) error {
	n := d.open[op.ID]
	switch {
	case n == nil:
		return nil // a file outside the folder
	case op.Op == "write", op.Op == "truncate":
		n.origin = ""
		n.live = applyTo(slices.Clone(n.live), op)
		n.pending = append(n.pending, *op)
	case op.Op == "sync":
		if d.Ignore == nil || !d.Ignore(&disk.Op{Op: "sync", Path: d.pathOf(n)}) {
			n.synced, n.pending = n.live, nil
		}
	default:
		return fmt.Errorf("%s: %w", op.Op, errModel)
	}
	return nil
}

// applyTo returns text after a write or a truncation.
func applyTo(text []byte, op *disk.Op) []byte {
	end := op.Off + int64(len(op.Data))
	if grow := end - int64(len(text)); grow > 0 {
		text = append(text, make([]byte, grow)...)
	}
	if op.Op == "truncate" {
		return text[:op.Off]
	}
	copy(text[op.Off:], op.Data)
	return text
}

// pathOf returns a path of n, or an empty string.
func (d *Disk) pathOf(n *inode) string {
	for path, other := range d.live {
		if other == n {
			return path
		}
	}
	return ""
}

// name sets or, if n is nil, removes a name.
func (d *Disk) name(path string, n *inode) {
	d.note(filepath.Dir(path), &change{names: map[string]*inode{path: n}})
}

// note applies a change in a folder, which is not durable yet.
func (d *Disk) note(dir string, c *change) {
	c.put(d.live)
	d.pending[dir] = append(d.pending[dir], c)
}

// put applies c to names.
func (c *change) put(names map[string]*inode) {
	for path, n := range c.names {
		put(names, path, n)
	}
}

// settle applies c to names, together with the change that must accompany it.
func (d *Disk) settle(names map[string]*inode, c *change) {
	if c.after != nil && slices.Contains(d.pending[c.toDir], c.after) {
		c.after.put(names)
	}
	c.put(names)
}

func put(names map[string]*inode, path string, n *inode) {
	if n == nil {
		delete(names, path)
		return
	}
	names[path] = n
}

// rename applies a rename or a link. A rename between two folders is two
// changes, so a crash may leave both names. It never leaves none: on file
// systems where a rename is one step of a journal, the old name is only removed
// together with adding the new name.
func (d *Disk) rename(op *disk.Op) error {
	n := d.live[op.Path]
	if n == nil || n.folder {
		return fmt.Errorf("%s %s: %w", op.Op, op.Path, errModel)
	}
	c := &change{names: map[string]*inode{op.To: n}}
	if op.Op == "rename" {
		if filepath.Dir(op.Path) == filepath.Dir(op.To) {
			c.names[op.Path] = nil
		} else {
			d.note(filepath.Dir(op.Path), &change{names: map[string]*inode{op.Path: nil}, after: c, toDir: filepath.Dir(op.To)})
		}
	}
	d.note(filepath.Dir(op.To), c)
	return nil
}

// syncDir makes the names in a folder durable.
func (d *Disk) syncDir(dir string) {
	for _, c := range d.pending[dir] {
		d.settle(d.durable, c)
	}
	delete(d.pending, dir)
}

// Cut replaces the folder by a random state that a power loss at this moment
// could leave, and describes what was lost. The model itself is not changed.
func (d *Disk) Cut(rng *rand.Rand) (lost string, err error) {
	names := map[string]*inode{}
	maps.Copy(names, d.durable)
	undone, files := 0, 0
	for _, dir := range sortedKeys(d.pending) {
		changes := d.pending[dir]
		kept := 0 // in most cases all changes are undone, as if nothing had been written
		if rng.IntN(3) == 0 {
			kept = rng.IntN(len(changes) + 1)
		}
		for _, c := range changes[:kept] {
			d.settle(names, c)
		}
		undone += len(changes) - kept
	}
	if err := d.clear(); err != nil {
		return "", err
	}
	texts := map[*inode][]byte{}
	for _, path := range sortedKeys(names) { // a folder comes before its content
		n := names[path]
		if parent := names[filepath.Dir(path)]; path != d.root && (parent == nil || !parent.folder) {
			delete(names, path) // its folder does not exist
			continue
		}
		if _, ok := texts[n]; !ok {
			texts[n] = n.after(rng)
			if len(n.pending) > 0 {
				files++
			}
		}
		if err := n.write(path, texts[n]); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d changes of names undone, %d files with unsynced data", undone, files), nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// after returns the content of n after a power loss: unsynced data is dropped,
// present up to some point, replaced by zeros, or all present.
func (n *inode) after(rng *rand.Rand) []byte {
	text := slices.Clone(n.synced)
	switch ops := n.pending; rng.IntN(4) {
	case 0: // dropped
	case 1: // truncated within one of the operations
		for i := range ops[:len(ops)/2] {
			text = applyTo(text, &ops[i])
		}
		if len(ops) > 0 && ops[len(ops)/2].Op == "write" {
			op := ops[len(ops)/2]
			op.Data = op.Data[:len(op.Data)/2]
			text = applyTo(text, &op)
		}
	case 2: // the size is right, but the data is zeros
		for _, op := range ops {
			op.Data = make([]byte, len(op.Data))
			text = applyTo(text, &op)
		}
	default:
		for i := range ops {
			text = applyTo(text, &ops[i])
		}
	}
	return text
}

// write writes n to the real disk.
func (n *inode) write(path string, text []byte) error {
	switch {
	case n.folder:
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case n.origin != "":
		return os.Link(n.origin, path)
	}
	return os.WriteFile(path, text, 0o644)
}

// clear empties the real folder.
func (d *Disk) clear() error {
	list, err := os.ReadDir(d.root)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := os.RemoveAll(filepath.Join(d.root, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
