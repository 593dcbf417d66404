package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// offsetOf returns the offset of the only entry of a state, or -1 if there is
// none.
func offsetOf(t testing.TB, s *Store) int64 {
	t.Helper()
	list := s.Entries("a")
	if len(list) == 0 {
		return -1
	}
	return list[0].Offset
}

// history creates a data directory with two generations: snapshot and log of
// the first have the offsets 0 to 9, those of the second 9 to 19.
func history(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range filesOf(historyIn(t, newMemFolder())) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// filesOf returns the contents of the files in m.
func filesOf(m *memFolder) map[string][]byte {
	files := map[string][]byte{}
	for name, f := range m.names {
		files[name] = f.data
	}
	return files
}

// historyIn does the same in memory.
func historyIn(t testing.TB, m *memFolder) *memFolder {
	t.Helper()
	s := openMem(t, m)
	for off := range int64(20) {
		if off == 10 {
			if err := s.compact(); err != nil {
				t.Fatal(err)
			}
		}
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", off)}, Cut: true,
			Extents: []engine.Extent{{Sink: "s", Lane: "x", Path: "p", Length: off}}})
	}
	return m
}

// spoil changes a file.
func spoil(t testing.TB, dir, name string, change func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// reopened returns the state of dir: the offset and the extent, which must come
// from the same commit, and the warnings.
func reopened(t testing.TB, dir string) (int64, []string) {
	t.Helper()
	s := open(t, dir)
	defer shut(t, s)
	return stored(t, s)
}

func stored(t testing.TB, s *Store) (int64, []string) {
	t.Helper()
	off := offsetOf(t, s)
	for _, m := range s.Extents("s") {
		if m.Length != off {
			t.Fatalf("offset %d with extent %d: not of one commit", off, m.Length)
		}
	}
	return off, s.Warnings()
}

var spoilings = map[string]func([]byte) []byte{
	"empty":         func([]byte) []byte { return nil },
	"torn":          func(b []byte) []byte { return b[:len(b)/2] },
	"one byte less": func(b []byte) []byte { return b[:len(b)-1] },
	"zeros":         func(b []byte) []byte { return make([]byte, len(b)) },
	"flipped":       func(b []byte) []byte { b = bytes.Clone(b); b[len(b)/2] ^= 4; return b },
	"other file":    func([]byte) []byte { return bytes.Repeat([]byte("x"), 3*maxLine) },
}

// TestDamagedSnapshot checks that whatever happens to the snapshot, the
// previous snapshot and both logs hold all commits. If that one is damaged,
// too, the checkpoint starts from scratch, and a warning reports it.
func TestDamagedSnapshot(t *testing.T) {
	for name, change := range spoilings {
		dir := history(t)
		spoil(t, dir, snapshotName, change)
		off, warnings := reopened(t, dir)
		if all := strings.Join(warnings, "\n"); off != 19 || !strings.Contains(all, "cannot use") || !strings.Contains(all, "nothing is read again") {
			t.Errorf("%s: offset %d, warnings %q", name, off, warnings)
		}
		spoil(t, dir, previousName, change)
		off, warnings = reopened(t, dir)
		if off != -1 || !strings.Contains(strings.Join(warnings, "\n"), "from the beginning") {
			t.Errorf("%s, both: offset %d, warnings %q", name, off, warnings)
		}
	}
}

// TestDamagedIsKept checks that the first commit after damage repairs the
// checkpoint and keeps the damaged file.
func TestDamagedIsKept(t *testing.T) {
	for _, name := range []string{snapshotName, logName} {
		dir := history(t)
		spoil(t, dir, name, spoilings["flipped"])
		s := open(t, dir)
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 100)}})
		shut(t, s)
		s = open(t, dir)
		if off := offsetOf(t, s); off != 100 || len(s.Warnings()) > 0 {
			t.Errorf("%s: %d, %q", name, off, s.Warnings())
		}
		shut(t, s)
		bad := map[string]string{snapshotName: badName, logName: badLogName}[name]
		if _, err := os.Stat(filepath.Join(dir, bad)); err != nil {
			t.Errorf("%s: the damaged file was not kept: %v", name, err)
		}
		spoil(t, dir, snapshotName, spoilings["zeros"]) // the file kept as the previous one is intact
		if off, _ := reopened(t, dir); off < 0 {
			t.Errorf("%s: no state is left after further damage", name)
		}
	}
}

// TestLogTornAnywhere truncates a log at each byte: all commits before the cut
// count, and a warning reports the cut unless it is between two commits.
func TestLogTornAnywhere(t *testing.T) {
	dir := history(t)
	b, err := os.ReadFile(filepath.Join(dir, logName))
	if err != nil {
		t.Fatal(err)
	}
	ends := frameEnds(t, b)
	if len(ends) != 11 {
		t.Fatalf("%d frames", len(ends))
	}
	for n := ends[0]; n < len(b); n++ {
		spoil(t, dir, logName, func([]byte) []byte { return b[:n] })
		want, between := int64(9), false
		for i, end := range ends {
			if end <= n {
				want, between = int64(9+i), end == n
			}
		}
		off, warnings := reopened(t, dir)
		if off != want || between != (len(warnings) == 0) {
			t.Fatalf("cut at %d of %d: offset %d, want %d; warnings %q", n, len(b), off, want, warnings)
		}
	}
}

// frameEnds returns the offsets of the ends of the frames of a file, starting
// with the header.
func frameEnds(t testing.TB, b []byte) (ends []int) {
	t.Helper()
	rest := b[len(firstLine):]
	for len(rest) > 0 {
		_, after, err := parseFrame(rest)
		if err != nil {
			t.Fatal(err)
		}
		rest = after
		ends = append(ends, len(b)-len(rest))
	}
	return ends
}

// TestEveryBit flips each bit of a log: the change must be detected, later
// commits must not count although they are intact, and the result must be the
// state of one commit.
func TestEveryBit(t *testing.T) {
	dir := history(t)
	b, err := os.ReadFile(filepath.Join(dir, logName))
	if err != nil {
		t.Fatal(err)
	}
	ends := frameEnds(t, b)
	for i := range b {
		bit := byte(1) << (i % 8)
		b[i] ^= bit
		spoil(t, dir, logName, func([]byte) []byte { return b })
		b[i] ^= bit
		want := int64(9)
		for k, end := range ends {
			if end <= i {
				want = int64(9 + k)
			}
		}
		off, warnings := reopened(t, dir)
		if off != want || len(warnings) == 0 {
			t.Fatalf("bit of byte %d of %d: offset %d, want %d; warnings %q", i, len(b), off, want, warnings)
		}
	}
	s, err := os.ReadFile(filepath.Join(dir, snapshotName))
	if err != nil {
		t.Fatal(err)
	}
	for i := range s {
		s[i] ^= 1 << (i % 8)
		if parsed(s) == nil {
			t.Errorf("a changed bit of byte %d of a snapshot is not detected", i)
		}
		s[i] ^= 1 << (i % 8)
		if parsed(s[:i]) == nil {
			t.Errorf("the first %d of %d bytes are accepted as a snapshot", i, len(s))
		}
	}
}

// TestMissing removes each of the files, and several of them.
func TestMissing(t *testing.T) {
	f := func(want int64, warns bool, gone ...string) {
		t.Helper()
		dir := history(t)
		for _, name := range gone {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if off, warnings := reopened(t, dir); off != want || warns != (len(warnings) > 0) {
			t.Errorf("without %q: offset %d, want %d; warnings %q", gone, off, want, warnings)
		}
	}
	f(19, false)
	f(19, false, previousName)
	f(19, false, previousLogName)
	f(19, true, snapshotName)
	f(9, true, logName)
	f(9, true, snapshotName, logName)
	f(-1, true, snapshotName, previousName)
	f(-1, true, snapshotName, previousName, previousLogName)
	f(-1, false, snapshotName, previousName, previousLogName, logName)
	f(-1, true, snapshotName, logName, previousName)
}

// TestNewer checks that data of a later version is not skipped, whether the
// header, a section or a key shows the version. An optional section is kept.
func TestNewer(t *testing.T) {
	commit := func(payload []byte) func([]byte) []byte {
		return func(b []byte) []byte {
			h, _, err := parseHeader(b)
			if err != nil {
				t.Fatal(err)
			}
			at := len(b)
			b, err = endFrame(append(beginFrame(b), payload...), at, h.gen, 11)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	refused := func(name, in string, change func([]byte) []byte) {
		t.Helper()
		dir := history(t)
		spoil(t, dir, in, change)
		if s, err := Open(dir); !errors.Is(err, errNewer) {
			t.Errorf("%s: %v", name, err)
			_ = s.Close()
		}
		if err := Readable(dir); !errors.Is(err, errNewer) {
			t.Errorf("%s: Readable: %v", name, err)
		}
	}
	refused("header", snapshotName, func([]byte) []byte {
		text := []byte(strings.Replace(firstLine, "2", "3", 1))
		at := len(text)
		text, _ = endFrame(appendSection(beginFrame(text), headSection, []byte(`{"kind":"snapshot","version":3,"more":1}`)), at, 7, 0)
		return text
	})
	refused("section", logName, commit(appendSection(nil, 99, []byte("x"))))
	refused("key", logName, commit(appendSection(nil, putSection, []byte(`{"source":"a","id":"x","later":1}`+"\n"))))

	dir := history(t)
	spoil(t, dir, logName, commit(appendSection(nil, 200, []byte("kept"))))
	for range 3 {
		s := open(t, dir)
		if got := s.st.extra[200]; got != "kept" || len(s.Warnings()) > 0 {
			t.Errorf("an optional section became %q, %q", got, s.Warnings())
		}
		if err := s.compact(); err != nil {
			t.Fatal(err)
		}
		shut(t, s)
	}
}

// parsed returns the error about a snapshot.
func parsed(snapshot []byte) error {
	h, rest, err := parseHeader(snapshot)
	if err == nil {
		_, err = parseSnapshot(h, &frameReader{file: bytes.NewReader(rest), left: int64(len(rest))})
	}
	return err
}

// TestCopy copies each file of the folder at a different moment. With any
// compactions in between, the copy must have the state of a commit that is not
// older than the start of the copy, or a warning must report missing commits.
func TestCopy(t *testing.T) {
	names := []string{snapshotName, logName, previousName, previousLogName}
	orders := [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 3, 0, 1}, {1, 0, 3, 2}, {0, 2, 1, 3}, {1, 3, 0, 2}}
	for _, order := range orders {
		for between := range 81 { // what happens before each of the four files is copied
			m, backup := historyIn(t, newMemFolder()), newMemFolder()
			s := openMem(t, m)
			off := int64(20)
			next := func() {
				save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", off)}, Cut: true,
					Extents: []engine.Extent{{Sink: "s", Lane: "x", Path: "p", Length: off}}})
				off++
			}
			next()
			began := off - 1
			for i, what := 0, between; i < 4; i, what = i+1, what/3 {
				if what%3 > 0 {
					next()
				}
				if what%3 > 1 {
					if err := s.compact(); err != nil {
						t.Fatal(err)
					}
					next()
				}
				b, err := m.read(names[order[i]])
				if err != nil {
					t.Fatal(err)
				}
				backup.names[names[order[i]]] = &memFile{dir: backup, data: b}
			}
			got, warnings := stored(t, openMem(t, backup))
			if got < 0 || got < began && len(warnings) == 0 {
				t.Errorf("order %v, %d: offset %d, which was %d when the copy began; warnings %q", order, between, got, began, warnings)
			}
		}
	}
}

// TestPreviousUnread: only the headers of the previous generation are read if the newest one
// is intact.
func TestPreviousUnread(t *testing.T) {
	m := newMemFolder()
	s := openMem(t, m)
	for i := range 1000 {
		if save(t, s, Update{Source: "a", Entries: []Entry{entry("a", strconv.Itoa(i), 1)}}); i%450 > 0 {
			continue
		}
		if err := s.compact(); err != nil {
			t.Fatal(err)
		}
	}
	size := func(name string) int64 { return int64(len(m.names[name].data)) }
	m.asked = 0
	if n := len(openMem(t, m).Entries("a")); n != 1000 {
		t.Errorf("%d entries", n)
	}
	if most := size(snapshotName) + size(logName) + 4*headBytes; m.asked > most || size(previousName)+size(previousLogName) < 10*headBytes {
		t.Errorf("%d bytes read, want at most %d; %d and %d bytes of the previous generation", m.asked, most, size(previousName), size(previousLogName))
	}
}

// FuzzLoad checks that no input makes the loader panic, and that an accepted
// state has the same content after it is written back.
func FuzzLoad(f *testing.F) {
	files := filesOf(historyIn(f, newMemFolder()))
	for _, name := range []string{snapshotName, logName} {
		b := files[name]
		f.Add(b, name == logName)
		f.Add(b[:len(b)-1], name == logName)
	}
	f.Add([]byte(nil), true)
	f.Add([]byte(`{"urlfold":"checkpoint","version":1,"lines":0}`+"\n"+`{"xxh3":"0000000000000000"}`+"\n"), false)
	f.Add([]byte(`{"urlfold":"checkpoint","version":1,"lines":1000000000}`+"\n"), false)
	f.Fuzz(func(t *testing.T, data []byte, log bool) {
		m, name := newMemFolder(), snapshotName
		if log {
			m, name = historyIn(t, m), logName
		}
		m.names[name] = &memFile{dir: m, data: data}
		s := newStore("", m)
		if s.load() != nil {
			return
		}
		before := len(s.st.extents) + len(s.Entries("a"))
		save(t, s, Update{Source: "z", Entries: []Entry{entry("z", "new", 1)}})
		s = openMem(t, m)
		if got := len(s.st.extents) + len(s.Entries("a")); got != before || len(s.Entries("z")) != 1 || len(s.Warnings()) > 0 {
			t.Fatalf("%d became %d, warnings %q", before, got, s.Warnings())
		}
	})
}
