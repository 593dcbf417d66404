package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCutDeadLetter cuts dead letters until nothing is left to cut. Each of the
// results is JSON, is shorter than the one before, and says how long the record
// was; its record is a prefix of the whole one. The last one has no record.
func TestCutDeadLetter(t *testing.T) {
	job := newJob(t, Config{Format: "lines", OnRejected: DispositionDead})
	records := []string{
		"", "x\n", strings.Repeat("\x01", 5000), strings.Repeat("a", 5001), strings.Repeat("é€\U0001f600\"\\\n", 500),
		strings.Repeat("\xff\xfe\x00", 1700), "\xff", `,"record":"` + strings.Repeat(`","record_b64":"`, 300),
	}
	keys := [][]byte{nil, []byte("k"), bytes.Repeat([]byte(`\",`), 1000), bytes.Repeat([]byte{0xff}, 1000), []byte(`","record":"`)}
	for _, rec := range records {
		for _, key := range keys {
			_, letter := job.NewWorker().Reject(nil, nil, []byte(rec), Unparsed, Position{Name: `a",`, Line: 3, Off: 7, Key: key}, new(Stats))
			checkCuts(t, letter, []byte(rec))
		}
	}
	if got := CutDeadLetter([]byte("before"), []byte("not a dead letter\n")); string(got) != "before" {
		t.Errorf("%q", got)
	}
}

func checkCuts(t *testing.T, letter, rec []byte) {
	t.Helper()
	sum := sha256.Sum256(rec)
	for cuts := 0; ; cuts++ {
		next := CutDeadLetter([]byte("before\n"), letter)[len("before\n"):]
		if len(next) == 0 {
			if cuts == 0 || bytes.Contains(letter, []byte(`"record`)) || bytes.Contains(letter, []byte(`"key`)) {
				t.Fatalf("%q cannot be cut", letter)
			}
			return
		}
		var got struct {
			Reason, File, Sha256 string
			Line, Offset, Length int
			Truncated            bool
			Record               string
			Record64             string `json:"record_b64"`
		}
		if err := json.Unmarshal(next, &got); err != nil || next[len(next)-1] != '\n' || !utf8.Valid(next) {
			t.Fatalf("%q: %v", next, err)
		}
		if got.Reason != "unparsed" || got.File != `a",` || got.Line != 3 || got.Offset != 7 {
			t.Fatalf("%q: without the position", next)
		}
		if !got.Truncated || got.Length != len(rec) || got.Sha256 != hex.EncodeToString(sum[:]) {
			t.Fatalf("%q: without the length and hash of %d bytes", next, len(rec))
		}
		part, err := base64.StdEncoding.DecodeString(got.Record64)
		if part = append(part, got.Record...); err != nil || !bytes.HasPrefix(rec, part) {
			t.Fatalf("%q: not a part of the record, %v", next, err)
		}
		if len(next) >= len(letter) && len(letter) > 1000 || cuts > 20 {
			t.Fatalf("cut %d: %d bytes after %d", cuts, len(next), len(letter))
		}
		letter = bytes.Clone(next)
	}
}
