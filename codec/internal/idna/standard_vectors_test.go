package idna

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// statusCodesOf maps an Error to the status codes of IdnaTestV2.txt that it
// covers.
var statusCodesOf = map[Error][]string{
	ErrUTF8:      {"V7", "P4"}, // U+FFFD, which is disallowed, in an A-label too
	ErrCodePoint: {"V7"},
	ErrPunycode:  {"P4"},
	ErrASCIIOnly: {"P4"},
	ErrNFC:       {"V1"},
	ErrPrefix:    {"V4"},
	ErrMark:      {"V6"},
	ErrJoiner:    {"C1", "C2"},
	ErrBidi:      {"B1", "B2", "B3", "B4", "B5", "B6"},
	ErrHyphens:   {"V2", "V3"},
	ErrSTD3:      {"U1"},
	ErrEmpty:     {"A4_1", "A4_2"},
	ErrLength:    {"A4_1", "A4_2"},
}

// TestVectorsIDNA runs testdata/vectors/idna.jsonl: ASCII forms, failures, the
// violated rule of UTS 46, and the label that violates it.
func TestVectorsIDNA(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "vectors", "idna.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	line := 0
	for row := range bytes.Lines(data) {
		line++
		var v struct {
			Clause, Domain, ASCII string
			DomainHex             string `json:"domain_hex"`
			Failure               bool
			Codes                 []string
			At                    *int
			StrictCodes           []string `json:"strict_codes"`
			StrictAt              *int     `json:"strict_at"`
		}
		if err := json.Unmarshal(row, &v); err != nil {
			t.Fatalf("%d: %v", line, err)
		}
		domain := []byte(v.Domain)
		if v.DomainHex != "" {
			if domain, err = hex.DecodeString(v.DomainHex); err != nil {
				t.Fatalf("%d: %v", line, err)
			}
		}
		got, err := AppendASCII(nil, domain)
		if string(got) != v.ASCII || (err != nil) != v.Failure {
			t.Errorf("%d: %s: AppendASCII(%+q) = %q, %v; want %q, failure %v", line, v.Clause, domain, got, err, v.ASCII, v.Failure)
		}
		check := func(name string, at int, err error, wantAt *int, codes []string) {
			t.Helper()
			if want := wantAt == nil; (err == nil) != want || !want && at != *wantAt {
				t.Errorf("%d: %s: %s(%+q) = %d, %v; want %v at %v", line, v.Clause, name, domain, at, err, codes, wantAt)
				return
			}
			if err != nil && !slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(statusCodesOf[reason(err)], c) }) {
				t.Errorf("%d: %s: %s(%+q): %v; want one of %v", line, v.Clause, name, domain, err, codes)
			}
		}
		at, err := Valid(domain)
		check("Valid", at, err, v.At, v.Codes)
		at, err = Strict(domain)
		check("Strict", at, err, v.StrictAt, v.StrictCodes)
		for _, c := range v.StrictCodes {
			seen[c]++
		}
		if shown := AppendUnicode(nil, got); !v.Failure {
			if back, err := AppendASCII(nil, shown); err != nil || string(back) != string(got) {
				t.Errorf("%d: AppendUnicode(%q) = %+q, which is %q, %v", line, got, shown, back, err)
			}
		}
	}
	if line < 780 {
		t.Errorf("%d vectors, want at least 780", line)
	}
	for _, codes := range statusCodesOf {
		for _, c := range codes {
			if seen[c] == 0 {
				t.Errorf("no vector has the status code %s", c)
			}
		}
	}
	t.Logf("idna.jsonl: %d vectors", line)
}

// reason returns err as an Error.
func reason(err error) (e Error) {
	_ = errors.As(err, &e)
	return e
}
