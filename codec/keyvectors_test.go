package codec

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/template"
)

// This file makes testdata/vectors/keys.jsonl, the vectors of
// docs/reference/keys.md, and compares the keys with it. The inputs are in
// keyvectors_inputs_test.go.

//go:generate go test -run ^TestKeyVectors$ -update .

// keyVectorSecret is the HMAC key of the vectors, as the page has it.
const keyVectorSecret = "urlfold key vectors"

// A keyVector is one row of keys.jsonl. A URL that is not UTF-8 is in url_hex.
type keyVector struct {
	Group    string       `json:"group"`
	URL      *string      `json:"url,omitempty"`
	URLHex   *string      `json:"url_hex,omitempty"`
	Base     string       `json:"base,omitempty"`
	Standard string       `json:"standard"`
	Profile  string       `json:"profile,omitempty"`
	Options  *keyOptions  `json:"options,omitempty"`
	Error    string       `json:"error,omitempty"`
	K0       *keyExpected `json:"k0,omitempty"`
	K1       *keyExpected `json:"k1,omitempty"`
	K2       *keyExpected `json:"k2,omitempty"`
	K3       *keyExpected `json:"k3,omitempty"`
	Surface  *keyExpected `json:"surface,omitempty"`
	Lists    keyLists     `json:"lists"`
}

// A keyExpected is the canonical string of one level, and its hashes.
type keyExpected struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	XXH3   string `json:"xxh3-128"`
	SHA256 string `json:"sha256-128"`
	HMAC   string `json:"hmac-sha256"`
}

// keyOptions are the options of a Policy under their names in a configuration.
type keyOptions struct {
	KeepHTTPS  bool     `json:"keep_https,omitempty"`
	SPA        []string `json:"spa,omitempty"`
	SiteParams []string `json:"site_params,omitempty"`
	LowerPath  bool     `json:"lower_path,omitempty"`
	LowerQuery bool     `json:"lower_query,omitempty"`
	NFC        bool     `json:"nfc,omitempty"`
	Once       bool     `json:"once,omitempty"`
	Templates  []string `json:"path_templates,omitempty"`
}

// keyLists are the versions of what a key depends on beside its function.
type keyLists struct {
	Parameters     string `json:"parameters"`
	PublicSuffixes string `json:"public_suffixes"`
	Unicode        string `json:"unicode"`
	URLStandard    string `json:"url_standard"`
}

// A keyInput is the input of a row. The profile matters only where a standard
// cannot parse the URL, or where it is not the profile's own.
type keyInput struct {
	group, url, base string
	std              Standard
	profile          string
	opts             *keyOptions
}

// policy returns the built-in policy with the options.
func (o *keyOptions) policy(t *testing.T) *Policy {
	t.Helper()
	p := DefaultPolicy()
	if o == nil {
		return p
	}
	p.KeepHTTPS, p.SPA, p.LowerPath, p.LowerQuery, p.NFC, p.Once = o.KeepHTTPS, o.SPA, o.LowerPath, o.LowerQuery, o.NFC, o.Once
	var err error
	if p.Templates, err = template.Compile(o.Templates); err != nil {
		t.Fatal(err)
	}
	if len(o.SiteParams) == 0 {
		return p
	}
	list := &params.List{Name: "site", Version: "1"}
	for _, text := range o.SiteParams {
		rule, err := params.ParseListRule(text, "options")
		if err != nil {
			t.Fatal(err)
		}
		list.Rules = append(list.Rules, rule)
	}
	m, err := params.Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	p.SiteParams = m
	return p
}

// profiles returns the profiles that must give the same keys: the one of the
// input, or all of its standard that can parse the same URLs.
func (in *keyInput) profiles() []string {
	switch {
	case in.profile != "":
		return []string{in.profile}
	case in.std == RFC3986:
		return []string{"rfc3986-scheme", "rfc3986"}
	}
	return []string{"whatwg", "equiv", "crawler", "analytics"}
}

// A keyMaker computes rows. It keeps the normalizers that it has made.
type keyMaker struct {
	t     *testing.T
	byKey map[keyMakerKey][]*Normalizer // one for each hash
}

type keyMakerKey struct {
	profile string
	std     Standard
	opts    *keyOptions
}

// normalizers returns the normalizers of an input, one for each hash.
func (m *keyMaker) normalizers(in *keyInput, profile string) []*Normalizer {
	key := keyMakerKey{profile, in.std, in.opts}
	if list, ok := m.byKey[key]; ok {
		return list
	}
	if m.byKey == nil {
		m.byKey = map[keyMakerKey][]*Normalizer{}
	}
	policy := in.opts.policy(m.t)
	for _, hash := range []Option{WithHash(XXH3), WithHash(SHA256), WithHMACKey([]byte(keyVectorSecret))} {
		n := vectorNormalizer(m.t, profile, WithPolicy(policy), WithStandard(in.std), hash)
		m.byKey[key] = append(m.byKey[key], n)
	}
	return m.byKey[key]
}

// vector computes the row of an input by one profile.
func (m *keyMaker) vector(in *keyInput, profile string) keyVector {
	v := keyVector{Group: in.group, Base: in.base, Standard: in.std.String(), Profile: in.profile, Options: in.opts}
	v.Lists = keyLists{params.DefaultVersion, SiteListVersion(), idna.UnicodeVersion, SpecDate}
	text, digits := in.url, hex.EncodeToString([]byte(in.url))
	if v.URL = &text; !utf8.ValidString(text) {
		v.URL, v.URLHex = nil, &digits
	}
	levels := map[Level]**keyExpected{LevelSyntax: &v.K0, LevelEquivalent: &v.K1, LevelFetch: &v.K2, LevelPage: &v.K3, LevelShape: &v.Surface}
	for i, n := range m.normalizers(in, profile) {
		var r Result
		if _, err := n.AppendRef(nil, []byte(in.base), []byte(in.url), &r); err != nil {
			v.Error = errorName(err)
			return v
		}
		for lv, at := range levels {
			if *at == nil {
				*at = &keyExpected{ID: n.KeyFunction(lv), Text: string(r.AppendKey(nil, lv))}
			}
			*[]*string{&(*at).XXH3, &(*at).SHA256, &(*at).HMAC}[i] = r.Key(lv).String()
		}
	}
	return v
}

// appendRow appends v as a line of JSON in ASCII, as the other files of
// testdata/vectors are.
func (v *keyVector) appendRow(dst []byte) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	for _, r := range b.String() {
		switch {
		case r < 0x7F:
			dst = append(dst, byte(r))
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, hi, lo)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return dst
}

// touched reports whether rules of lists have made another string at a level.
func (v *keyVector) touched(lv Level) bool {
	switch {
	case v.K0 == nil:
		return false
	case lv == LevelFetch:
		return v.K2.Text != v.K1.Text
	}
	return v.K2.Text != "http://"+v.K3.Text
}

// TestKeyVectors compares the keys with keys.jsonl, and the file with its
// inputs. With
// -update it writes the file.
func TestKeyVectors(t *testing.T) {
	path := filepath.Join("..", "testdata", "vectors", "keys.jsonl")
	var rows []byte
	groups, touched := map[string]int{}, [numLevels]int{}
	inputs, maker := keyVectorInputs(), keyMaker{t: t}
	for i := range inputs {
		in := &inputs[i]
		profiles := in.profiles()
		v := maker.vector(in, profiles[0])
		row := v.appendRow(nil)
		for _, p := range profiles[1:] {
			same := maker.vector(in, p)
			if other := same.appendRow(nil); !bytes.Equal(row, other) {
				t.Errorf("%q against %q: profile %s gives\n%s, %s gives\n%s", in.url, in.base, profiles[0], row, p, other)
			}
		}
		groups[in.group]++
		for _, lv := range []Level{LevelFetch, LevelPage} {
			if (in.group == "session" || in.group == "signed") && v.touched(lv) {
				touched[lv]++
			}
		}
		if bytes.Contains(rows, row) {
			t.Errorf("%q against %q: two rows are the same", in.url, in.base)
		}
		rows = append(rows, row...)
	}
	if *update {
		if err := os.WriteFile(path, rows, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	compareRows(t, path, rows)
	for _, g := range []struct {
		name string
		want int
	}{{"non-ascii host", 100}, {"malformed escape", 50}, {"session", 50}, {"signed", 25}, {"public suffix", 50}, {"failure", 20}} {
		if groups[g.name] < g.want {
			t.Errorf("%d rows of group %q, want at least %d", groups[g.name], g.name, g.want)
		}
	}
	if len(inputs) < 500 || touched[LevelFetch] < 50 || touched[LevelPage] < 50 {
		t.Errorf("%d rows; of those with sessions and signatures %d have another K2 and %d another K3", len(inputs), touched[LevelFetch], touched[LevelPage])
	}
	t.Logf("%d rows: %v", len(inputs), groups)
}

// compareRows compares a file with the lines that it should have.
func compareRows(t *testing.T, path string, want []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := slices.Collect(bytes.Lines(data)), slices.Collect(bytes.Lines(want))
	for i := range min(len(got), len(wanted)) {
		if !bytes.Equal(got[i], wanted[i]) {
			t.Errorf("%s:%d:\n got %s\nwant %s", path, i+1, wanted[i], got[i])
		}
	}
	if len(got) != len(wanted) {
		t.Errorf("%s has %d rows, want %d: go generate ./codec", path, len(got), len(wanted))
	}
}
