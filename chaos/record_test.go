package chaos

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

var specs = []Spec{{Seed: 1, Format: Lines}, {Seed: 2, Format: Combined}, {Seed: 3, Format: Lines, Poison: 7}}

// TestSpec checks that a record is identified correctly in each form.
func TestSpec(t *testing.T) {
	for _, s := range specs {
		var rec, scratch []byte
		for n := range uint64(2000) {
			lane := n % 5
			for f := range Form(NumForms) {
				if f != Raw && s.Poisoned(n) {
					continue
				}
				rec = s.Want(rec[:0], lane, n, f)
				var id identity
				var err error
				if id, scratch, err = s.identify(rec, scratch); err != nil || id != (identity{lane, n, f}) {
					t.Fatalf("%q is %+v, %v; want record %d of lane %d, %v", rec, id, err, n, lane, f)
				}
			}
			if again := s.Append(nil, lane, n); !bytes.Equal(rec, again) {
				t.Fatalf("%q as it is written, and then %q", rec, again)
			}
			if other := (&Spec{Seed: s.Seed + 9, Format: s.Format, Poison: s.Poison}).Append(nil, lane, n); bytes.Equal(rec, other) {
				t.Fatalf("%q with two seeds", rec)
			}
		}
	}
}

// TestIdentifyChanged checks that changing, removing or adding any byte of a
// record is detected.
func TestIdentifyChanged(t *testing.T) {
	for _, s := range specs {
		rec := bytes.TrimSuffix(s.Want(nil, 3, 41, Folded), []byte{'\n'})
		for i := range rec {
			for what, bad := range map[string][]byte{
				"changed":  slices.Concat(rec[:i], []byte{rec[i] ^ 1}, rec[i+1:]),
				"gone":     slices.Concat(rec[:i], rec[i+1:]),
				"added":    slices.Concat(rec[:i], []byte{'x'}, rec[i:]),
				"cut here": rec[:i],
			} {
				if id, _, err := s.identify(bad, nil); err == nil {
					t.Errorf("byte %d %s: %q is identified as %+v", i, what, bad, id)
				}
			}
		}
	}
}

func TestSpecLengths(t *testing.T) {
	s := Spec{Format: Lines}
	lengths := map[int]bool{}
	for n := range uint64(1000) {
		lengths[len(s.Append(nil, 0, n))] = true
	}
	if len(lengths) < 50 {
		t.Errorf("%d different lengths", len(lengths))
	}
}

func TestParseFormat(t *testing.T) {
	for _, name := range []string{"lines", "combined"} {
		if f, err := ParseFormat(name); err != nil || string(f) != name {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	if _, err := ParseFormat("csv"); err == nil || !strings.Contains(err.Error(), "lines") {
		t.Errorf("csv: %v", err)
	}
}
