package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// A memFolder is a folder in memory that models a power loss. A crash keeps the
// synced content of each file plus any prefix of the later writes, each of them
// complete, halved or as zeros. It keeps the synced names plus any subset of
// the later changes of names.
type memFolder struct {
	names  map[string]*memFile
	synced map[string]*memFile
	ops    []nameOp
	fail   func() error // called before each operation that can fail
	asked  int64        // bytes that were read
}

// A nameOp is an unsynced change of names: it sets to to f, and removes from.
type nameOp struct {
	from, to string
	f        *memFile
}

type memFile struct {
	dir    *memFolder
	data   []byte
	synced []byte
	writes []memWrite
}

type memWrite struct {
	p    []byte
	off  int64
	trim bool // a truncation to off
}

func newMemFolder() *memFolder {
	return &memFolder{names: map[string]*memFile{}, synced: map[string]*memFile{}, fail: func() error { return nil }}
}

func (m *memFolder) change(op nameOp) {
	m.ops = append(m.ops, op)
	apply(m.names, op)
}

func apply(names map[string]*memFile, op nameOp) {
	if op.from != "" {
		delete(names, op.from)
	}
	if op.to != "" {
		names[op.to] = op.f
	}
}

func (m *memFolder) create(name string) (file, error) {
	if err := m.fail(); err != nil {
		return nil, err
	}
	f := &memFile{dir: m}
	m.change(nameOp{"", name, f})
	return f, nil
}

func (m *memFolder) read(name string) ([]byte, error) {
	f := m.names[name]
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return bytes.Clone(f.data), nil
}

func (m *memFolder) open(name string) (*io.SectionReader, func() error, error) {
	data, err := m.read(name)
	return io.NewSectionReader(&memReader{bytes.NewReader(data), m}, 0, int64(len(data))), func() error { return nil }, err
}

// A memReader counts what is read from a memFolder.
type memReader struct {
	*bytes.Reader
	dir *memFolder
}

func (r *memReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.Reader.ReadAt(p, off)
	r.dir.asked += int64(n)
	return n, err
}

func (m *memFolder) rename(from, to string) error {
	if err := m.fail(); err != nil {
		return err
	}
	f := m.names[from]
	if f == nil {
		return fs.ErrNotExist
	}
	m.change(nameOp{from, to, f})
	return nil
}

func (m *memFolder) link(from, to string) error {
	if err := m.fail(); err != nil {
		return err
	}
	f := m.names[from]
	if f == nil {
		return fs.ErrNotExist
	}
	m.change(nameOp{"", to, f})
	return nil
}

func (m *memFolder) remove(name string) error {
	if m.names[name] != nil {
		m.change(nameOp{from: name})
	}
	return nil
}

func (m *memFolder) sync() error {
	if err := m.fail(); err != nil {
		return err
	}
	m.synced, m.ops = maps.Clone(m.names), nil
	return nil
}

func (m *memFolder) holds(name string, f file, size int64) (bool, error) {
	there := m.names[name]
	return there != nil && file(there) == f && int64(len(there.data)) == size, nil
}

// crash returns a random state after a power loss.
func (m *memFolder) crash(rng *rand.Rand) *memFolder {
	after := newMemFolder()
	names := maps.Clone(m.synced)
	for _, op := range m.ops {
		if rng.IntN(2) == 0 {
			apply(names, op)
		}
	}
	left := map[*memFile]*memFile{} // a file may have two names
	for name, f := range names {
		if left[f] == nil {
			left[f] = &memFile{dir: after, data: f.remains(rng)}
			left[f].synced = bytes.Clone(left[f].data)
		}
		after.names[name] = left[f]
	}
	after.synced = maps.Clone(after.names)
	return after
}

// remains returns a random content of a file after a power loss.
func (f *memFile) remains(rng *rand.Rand) []byte {
	data := bytes.Clone(f.synced)
	for _, w := range f.writes {
		switch rng.IntN(5) {
		case 0: // complete
			data = w.apply(data)
		case 1: // half of it
			half := w
			half.p = w.p[:len(w.p)/2]
			data = half.apply(data)
		case 2: // only the length
			zeros := w
			zeros.p = make([]byte, len(w.p))
			data = zeros.apply(data)
		default: // neither this write nor a later one
			return data
		}
	}
	return data
}

func (w *memWrite) apply(data []byte) []byte {
	if w.trim {
		return data[:min(len(data), int(w.off))]
	}
	if end := int(w.off) + len(w.p); end > len(data) {
		data = append(data, make([]byte, end-len(data))...)
	}
	copy(data[w.off:], w.p)
	return data
}

func (f *memFile) do(w memWrite) {
	f.writes = append(f.writes, w)
	f.data = w.apply(bytes.Clone(f.data))
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.dir.fail(); err != nil {
		f.do(memWrite{p: bytes.Clone(p[:len(p)/2]), off: off})
		return len(p) / 2, err
	}
	f.do(memWrite{p: bytes.Clone(p), off: off})
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	if err := f.dir.fail(); err != nil {
		return err
	}
	f.do(memWrite{off: size, trim: true})
	return nil
}

func (f *memFile) Sync() error {
	if err := f.dir.fail(); err != nil {
		return err
	}
	f.synced, f.writes = bytes.Clone(f.data), nil
	return nil
}

func (f *memFile) Close() error { return nil }

// openMem returns a store in a memFolder.
func openMem(t testing.TB, m *memFolder) *Store {
	t.Helper()
	s := newStore("", m)
	s.fault = func(string) error { return nil }
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	return s
}

// A model is the expected state: offsets by source and id, lengths by output.
type model struct {
	offsets, lengths map[string]int64
	keys             string
}

func (m model) clone() model { return model{maps.Clone(m.offsets), maps.Clone(m.lengths), m.keys} }

// modelOf returns the stored state.
func modelOf(s *Store) model {
	m := model{map[string]int64{}, map[string]int64{}, s.Keys()}
	for source := range s.st.sources {
		for _, e := range s.Entries(source) {
			m.offsets[source+"/"+e.ID] = e.Offset
		}
	}
	for k, n := range s.st.extents {
		m.lengths[k.path] = n.Length
	}
	return m
}

func (m model) equal(o model) bool {
	return maps.Equal(m.offsets, o.offsets) && maps.Equal(m.lengths, o.lengths) && m.keys == o.keys
}

// step returns a random update, and the model after it.
func (m model) step(rng *rand.Rand, n int64) (Update, model) {
	after := m.clone()
	u := Update{Source: string(rune('a' + rng.IntN(2))), Cut: true}
	for i := range rng.IntN(4) {
		id := fmt.Sprint(rng.IntN(6))
		if slices.Contains(u.Gone, id) || slices.ContainsFunc(u.Entries, func(e Entry) bool { return e.ID == id }) {
			continue // at most once per update
		}
		if rng.IntN(5) == 0 {
			u.Gone = append(u.Gone, id)
			delete(after.offsets, u.Source+"/"+id)
			continue
		}
		u.Entries = append(u.Entries, entry(u.Source, id, n*10+int64(i)))
		after.offsets[u.Source+"/"+id] = n*10 + int64(i)
	}
	path := fmt.Sprint("out", rng.IntN(3))
	if rng.IntN(6) == 0 {
		delete(after.lengths, path)
	} else {
		after.lengths[path] = n
	}
	for path, length := range after.lengths {
		u.Extents = append(u.Extents, engine.Extent{Sink: "s", Path: path, Length: length})
	}
	if rng.IntN(3) > 0 {
		after.keys = fmt.Sprint("keys ", n)
		u.Keys = []byte(after.keys)
	}
	return u, after
}

// TestPowerLoss runs random updates, compactions and disk errors, with a power
// loss between any two file system operations. A restart must find the complete
// state after one commit: the last acknowledged one, or a later one that was in
// progress. No warning may report a loss.
func TestPowerLoss(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 300
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 10))
		m, acked := newMemFolder(), model{map[string]int64{}, map[string]int64{}, ""}
		for life := range 4 {
			s := openMem(t, m)
			if got := modelOf(s); life == 0 && !got.equal(acked) {
				t.Fatalf("seed %d: an empty folder contains %v", seed, got)
			}
			var tries []model
			acked, tries = live(rng, s, m, acked)
			m = m.crash(rng)
			s = openMem(t, m)
			got := modelOf(s)
			at := slices.IndexFunc(tries, got.equal)
			if !got.equal(acked) && at < 0 {
				t.Fatalf("seed %d, life %d: found %v\nacknowledged %v\ntried since %v\nwarnings %q", seed, life, got, acked, tries, s.Warnings())
			}
			if acked = got; !slices.ContainsFunc(s.Warnings(), isLoss) {
				continue
			}
			t.Fatalf("seed %d, life %d: warnings %q", seed, life, s.Warnings())
		}
	}
}

// isLoss reports whether a warning reports more than an incomplete commit.
func isLoss(w string) bool {
	return !bytes.Contains([]byte(w), []byte("incomplete commit")) && !bytes.Contains([]byte(w), []byte("the last commit, number"))
}

var errPower = errors.New("no power")

// live runs s until the power fails. It returns the model of the last
// acknowledged commit, and those of the commits that failed since then.
func live(rng *rand.Rand, s *Store, m *memFolder, acked model) (model, []model) {
	left, broken := rng.IntN(120), rng.IntN(3) == 0
	off := false
	m.fail = func() error {
		if left--; left < 0 {
			off = true
			return errPower
		}
		if broken && rng.IntN(12) == 0 {
			return errors.New("input/output error")
		}
		return nil
	}
	var tries []model
	for n := int64(1); !off; n++ {
		if rng.IntN(8) == 0 {
			s.w.compactAt = 0
		}
		if rng.IntN(10) == 0 {
			_ = s.Keep() // may fail
		}
		u, after := acked.step(rng, n)
		if s.Save(u) == nil {
			acked, tries = after, nil
		} else {
			tries = append(tries, after)
		}
	}
	m.fail = func() error { return nil }
	return acked, tries
}

// TestPowerLossSees checks that TestPowerLoss fails if a sync is omitted.
func TestPowerLossSees(t *testing.T) {
	for _, what := range []string{"file sync", "folder sync"} {
		lost := false
		for seed := range uint64(400) {
			rng := rand.New(rand.NewPCG(seed, 11))
			m, acked := newMemFolder(), model{map[string]int64{}, map[string]int64{}, ""}
			s := openMem(t, m)
			s.files = &forgetful{m, what}
			acked, tries := live(rng, s, m, acked)
			got := modelOf(openMem(t, m.crash(rng)))
			lost = lost || !got.equal(acked) && !slices.ContainsFunc(tries, got.equal)
		}
		if !lost {
			t.Errorf("without %s no state was lost", what)
		}
	}
}

// A forgetful is a folder in which one kind of sync does nothing.
type forgetful struct {
	*memFolder
	what string
}

func (f *forgetful) sync() error {
	if f.what == "folder sync" {
		return nil
	}
	return f.memFolder.sync()
}

func (f *forgetful) create(name string) (file, error) {
	got, err := f.memFolder.create(name)
	if err == nil && f.what == "file sync" {
		return unsynced{got.(*memFile)}, nil
	}
	return got, err
}

type unsynced struct{ *memFile }

func (unsynced) Sync() error { return nil }
