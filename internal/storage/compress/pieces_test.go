package compress

import (
	"bytes"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPieces checks that the pieces of a text, packed in any order, form one
// member that holds the text.
func TestPieces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	text := []byte(strings.Repeat("a line of text\n", 20000))
	for _, cuts := range [][]int{{}, {1}, {100, 100, 5000}, {131072, 262143}, {0, len(text)}} {
		pack, err := NewPiecePack(0)
		if err != nil {
			t.Fatal(err)
		}
		ends := append(slices.Clone(cuts), len(text))
		parts := make([][]byte, len(ends))
		for _, i := range rnd.Perm(len(ends)) {
			begin := 0
			if i > 0 {
				begin = ends[i-1]
			}
			parts[i] = pack(nil, text[begin:ends[i]], i == 0, i == len(ends)-1, crc32.ChecksumIEEE(text), int64(len(text)))
		}
		packed := slices.Concat(parts...)
		r := NewReader(bytes.NewReader(packed), Options{RestartEvery: DefaultRestartEvery})
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, text) || r.Verdict() != (Verdict{Format: Gzip}) && r.Verdict() != (Verdict{}) {
			t.Errorf("cut at %v: %d bytes, %v, %v", cuts, len(got), err, r.Verdict())
		}
		if p, ok := r.RestartPoint(); !ok || p.Members() != 1 {
			t.Errorf("cut at %v: %d members", cuts, p.Members())
		}
	}
	if _, err := NewPiecePack(12); err == nil {
		t.Error("level 12 is accepted")
	}
}
