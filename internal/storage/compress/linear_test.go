package compress

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/cputime"
)

// hostileMembers returns, by name, members of which a hostile file consists.
func hostileMembers(t *testing.T) map[string][]byte {
	skippable := []byte("\x50\x2a\x4d\x18\x00\x00\x00\x00")
	members := map[string][]byte{"bzip2": []byte("BZh9\x17rE8P\x90\x00\x00\x00\x00"), "skippable": skippable}
	for name, pack := range map[string]func(testing.TB, []byte) []byte{"gzip": gz, "zstd": zst, "lz4": lz, "xz": xzip, "s2": s2x, "snappy": snap, "zlib": zlibbed} {
		members[name], members[name+" of a byte"] = pack(t, nil), pack(t, []byte("\n"))
		members[name+", damaged"] = append(pack(t, []byte("a\n"))[:len(pack(t, []byte("a\n")))-1], 0xff)
	}
	members["zstd"] = []byte("\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00") // the encoder writes nothing
	return members
}

// TestLinear checks that the time for a file of many small members grows with its size.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: takes seconds; run without -short")
	}
	for name, member := range hostileMembers(t) {
		if len(member) == 0 {
			continue // of S2
		}
		if cputime.Grows(t, 1<<16, func(size int) {
			file := append(bytes.Repeat(member, size/len(member)), "end"...)
			r := NewReader(bytes.NewReader(file), Options{RestartEvery: DefaultRestartEvery})
			defer r.Close()
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Fatal(err)
			}
			Verify(bytes.NewReader(file), Options{})
			LastGood(bytes.NewReader(file), Options{})
		}) {
			t.Errorf("%s: the time for files grows more than their size", name)
		}
	}
}

// TestEmptyMembers checks that the caller of Read can stop between empty members. The
// decoders of bzip2, S2 and Snappy do not return between them.
func TestEmptyMembers(t *testing.T) {
	members := hostileMembers(t)
	for _, name := range []string{"gzip", "zstd", "skippable", "lz4", "xz", "zlib"} {
		r := NewReader(bytes.NewReader(bytes.Repeat(members[name], 3*mostEmpty)), Options{})
		var pauses []error
		for err := error(nil); err == nil; pauses = append(pauses, err) {
			_, err = r.Read(make([]byte, 10))
		}
		if v := r.Verdict(); len(pauses) < 3 || !slices.Contains(pauses, nil) || v.Damage() && name != "zlib" {
			t.Errorf("%s: Read returned %v; %v", name, pauses, v)
		}
		r.Close()
	}
}
