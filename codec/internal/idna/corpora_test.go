package idna

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// corpus returns a file of the shared test material, or skips the test.
func corpus(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: " + name + "; set URLFOLD_CORPORA to the folder of the corpora")
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A row is a case of IdnaTestV2.txt, with the blank columns filled in.
type row struct {
	line            int
	source, unicode string
	ascii           string   // toAsciiN
	unicodeStatus   []string // codes of toUnicodeStatus
	asciiStatus     []string // codes of toAsciiNStatus
	relaxed         bool     // no code remains after those of the disabled checks are removed
}

// off lists the codes of the checks that beStrict = false disables, as given in
// the header of the file, and X4_2.
var off = []string{"V2", "V3", "U1", "A4_1", "A4_2", "X4_2"}

func parseRows(t *testing.T, data []byte) (rows []row) {
	sc := bufio.NewScanner(bytes.NewReader(data))
	for line := 1; sc.Scan(); line++ {
		text, _, _ := strings.Cut(sc.Text(), "#")
		f := strings.Split(text, ";")
		if len(f) < 7 {
			continue
		}
		for i := range f {
			f[i] = strings.Trim(f[i], " \t")
		}
		r := row{line: line, source: unescape(t, f[0])}
		r.unicode = orElse(f[1], r.source, func(s string) string { return unescape(t, s) })
		r.ascii = orElse(f[3], r.unicode, func(s string) string { return unescape(t, s) })
		r.unicodeStatus = orElse(f[2], nil, statusCodes)
		r.asciiStatus = orElse(f[4], r.unicodeStatus, statusCodes)
		r.relaxed = !slices.ContainsFunc(r.asciiStatus, func(s string) bool { return !slices.Contains(off, s) })
		rows = append(rows, r)
	}
	return rows
}

// orElse parses a column; a blank one has the given value.
func orElse[T any](column string, blank T, parse func(string) T) T {
	if column == "" {
		return blank
	}
	return parse(column)
}

func statusCodes(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("[], ", r) })
}

// unescape decodes "" and the escapes \uXXXX and \x{X...}. A surrogate becomes
// three bytes of invalid UTF-8.
func unescape(t *testing.T, s string) string {
	if s == `""` {
		return ""
	}
	var out []byte
	for s != "" {
		var digits string
		switch {
		case strings.HasPrefix(s, `\u`):
			digits, s = s[2:6], s[6:]
		case strings.HasPrefix(s, `\x{`):
			digits, s, _ = strings.Cut(s[3:], "}")
		default:
			out, s = append(out, s[0]), s[1:]
			continue
		}
		c, err := strconv.ParseUint(digits, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		if c >= 0xD800 && c < 0xE000 {
			out = append(out, 0xED, 0x80|byte(c>>6&0x3F), 0x80|byte(c&0x3F))
		} else {
			out = append(out, string(rune(c))...)
		}
	}
	return string(out)
}

// TestIdnaTestV2 runs the conformance test of UTS 46. If its codes come only
// from disabled checks, the domain must pass. ASCII domains always pass (URL
// Standard, 2026-06-25). Strict enables all checks, so every code counts.
func TestIdnaTestV2(t *testing.T) {
	rows := parseRows(t, corpus(t, "idna/IdnaTestV2-Unicode17.txt"))
	if len(rows) < 6000 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, r := range rows {
		got, err := AppendASCII(nil, []byte(r.source))
		switch {
		case ascii.Only([]byte(r.source)):
			if want := strings.ToLower(r.source); err != nil || string(got) != want {
				t.Errorf("line %d: AppendASCII(%+q) = %q, %v; want %q, because it is ASCII", r.line, r.source, got, err, want)
			}
		case r.relaxed:
			if err != nil || string(got) != r.ascii {
				t.Errorf("line %d: AppendASCII(%+q) = %q, %v; want %q %v", r.line, r.source, got, err, r.ascii, r.asciiStatus)
			}
		case err == nil:
			t.Errorf("line %d: AppendASCII(%+q) = %q; want an error: %v", r.line, r.source, got, r.asciiStatus)
		}
		if at, err := Valid([]byte(r.source)); (err == nil) != r.relaxed || (at < 0) != (err == nil) {
			t.Errorf("line %d: Valid(%+q) = %d, %v; want %v", r.line, r.source, at, err, r.asciiStatus)
		}
		if at, err := Strict([]byte(r.source)); (err == nil) != (len(r.asciiStatus) == 0) || (at < 0) != (err == nil) {
			t.Errorf("line %d: Strict(%+q) = %d, %v; want %v", r.line, r.source, at, err, r.asciiStatus)
		}
	}
}

// TestIdnaTestV2Unicode checks the display form of the ASCII domains of the
// same file: each label is that of the file's toUnicode, or unchanged.
func TestIdnaTestV2Unicode(t *testing.T) {
	shown := 0
	for _, r := range parseRows(t, corpus(t, "idna/IdnaTestV2-Unicode17.txt")) {
		if !r.relaxed {
			if got := AppendUnicode(nil, []byte(r.ascii)); string(got) != r.ascii {
				t.Errorf("line %d: AppendUnicode(%q) = %+q; want it unchanged: %v", r.line, r.ascii, got, r.asciiStatus)
			}
			continue
		}
		got := strings.Split(string(AppendUnicode(nil, []byte(r.ascii))), ".")
		ascii, unicode := strings.Split(r.ascii, "."), strings.Split(r.unicode, ".")
		if len(got) != len(ascii) || len(got) != len(unicode) {
			t.Fatalf("line %d: AppendUnicode(%q) has %d labels", r.line, r.ascii, len(got))
		}
		for i := range got {
			if got[i] == unicode[i] && got[i] != ascii[i] {
				shown++
			}
			if got[i] != ascii[i] && got[i] != unicode[i] {
				t.Errorf("line %d: AppendUnicode(%q) has the label %+q; want %+q", r.line, r.ascii, got[i], unicode[i])
			}
		}
	}
	if shown < 300 {
		t.Errorf("only %d labels were displayed", shown)
	}
}

// TestWPT runs web-platform-tests' cases, through the steps of the host parser
// around domain to ASCII.
func TestWPT(t *testing.T) {
	for _, name := range []string{"whatwg/toascii.json", "whatwg/IdnaTestV2.json", "whatwg/IdnaTestV2-removed.json"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			var items []json.RawMessage
			if err := json.Unmarshal(corpus(t, name), &items); err != nil {
				t.Fatal(err)
			}
			cases := 0
			for _, item := range items {
				if item[0] == '"' {
					continue // a comment
				}
				var c struct {
					Input  string
					Output *string
				}
				if err := json.Unmarshal(item, &c); err != nil {
					t.Fatal(err)
				}
				cases++
				if c.Input == "" { // the official test program skips it, too: no URL parser passes on an empty host
					continue
				}
				got, ok := parseHost(c.Input)
				if ok != (c.Output != nil) || ok && got != *c.Output {
					t.Errorf("%+q: got %q, %t; want %s", c.Input, got, ok, item)
				}
			}
			if cases < 20 {
				t.Errorf("only %d cases", cases)
			}
		})
	}
}

// parseHost is the host parser of the URL Standard, section 3.5, for special
// schemes. It omits IPv6, and all IPv4 addresses except those in dotted
// decimal.
func parseHost(input string) (string, bool) {
	ascii, err := AppendASCII(nil, percentDecode(input))
	if err != nil || len(ascii) == 0 {
		return "", false
	}
	for _, c := range ascii {
		if c <= 0x20 || c == 0x7F || strings.IndexByte("#/:<>?@[\\]^|%", c) >= 0 {
			return "", false
		}
	}
	labels := strings.Split(strings.TrimSuffix(string(ascii), "."), ".")
	if last := labels[len(labels)-1]; last != "" && strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		addr, err := netip.ParseAddr(string(ascii))
		return addr.String(), err == nil
	}
	return string(ascii), true
}

func percentDecode(s string) (out []byte) {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return out
}
