package codec

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"
)

// This file contains everything that the tests on testdata/vectors need from
// the codec's API.

// A vectorError is a validation error of the URL Standard and its byte offset.
type vectorError struct {
	Name string
	At   uint32
}

// UnmarshalJSON reads the form ["name", offset].
func (e *vectorError) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&e.Name, &e.At})
}

// vectorText is a text of a vector: a string, or hex digits if its name ends in
// _hex because the bytes are not valid UTF-8.
func vectorText(text, digits *string) ([]byte, bool) {
	switch {
	case text != nil:
		return []byte(*text), true
	case digits != nil:
		b, err := hex.DecodeString(*digits)
		return b, err == nil
	}
	return nil, false
}

// readVectors calls test with each row of a file. It fails if there are fewer
// rows than want, so that a truncated file or an empty loop is not a pass.
func readVectors[T any](t *testing.T, name string, want int, test func(line int, v *T)) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	line := 0
	for row := range bytes.Lines(data) {
		line++
		v := new(T)
		dec := json.NewDecoder(bytes.NewReader(row))
		dec.DisallowUnknownFields()
		if err := dec.Decode(v); err != nil {
			t.Fatalf("%s:%d: %v", name, line, err)
		}
		test(line, v)
	}
	if line < want || line == 0 {
		t.Errorf("%s: %d vectors, want at least %d", name, line, want)
	}
	t.Logf("%s: %d vectors", name, line)
}

// vectorNormalizer makes a Normalizer that records every diagnostic.
func vectorNormalizer(t *testing.T, profile string, opts ...Option) *Normalizer {
	t.Helper()
	p, err := Lookup(profile)
	if err != nil {
		t.Fatalf("no profile %q", profile)
	}
	p.MaxDiagnostics = MaxDiagnostics
	return newNormalizer(t, p, opts...)
}

func newNormalizer(t *testing.T, p Profile, opts ...Option) *Normalizer {
	t.Helper()
	n, err := New(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An outcome is the result of a call in a comparable form.
type outcome struct {
	text    string
	err     Error
	errAt   uint32
	errors  []vectorError
	flags   Flags
	in, out URL
	change  string // the class of change
	kind    string // kind of the host
	k0, k1  string // canonical strings of these levels
	valid   bool   // valid by the grammar of RFC 3986
}

func (o outcome) equal(p outcome) bool {
	return o.text == p.text && o.err == p.err && o.errAt == p.errAt && o.flags == p.flags && o.in == p.in && o.out == p.out &&
		o.change == p.change && o.kind == p.kind && o.k0 == p.k0 && o.k1 == p.k1 && slices.Equal(o.errors, p.errors)
}

// hostKinds are the names of the host kinds in the vectors.
var hostKinds = map[HostKind]string{HostNone: "none", HostRegName: "name", HostIPv4: "IPv4", HostIPv6: "IPv6", HostIPvFuture: "IPvFuture", HostBadLiteral: "invalid", HostOpaque: "opaque"}

// outcomeOf collects the results in r after n has normalized src. n is nil for
// Parse.
func outcomeOf(n *Normalizer, src, text []byte, err error, r *Result) outcome {
	o := outcome{text: string(text), flags: r.Flags, in: r.In, out: r.Out, valid: r.Valid()}
	if err != nil {
		o.err, o.errAt = err.(Error), r.ErrAt // undefined without an error
	} else if n != nil {
		r.remember(n, src, text) // the slow way does not set it
		o.change = r.Change().String()
		o.kind = hostKinds[r.Out.HostKind()]
		o.k0, o.k1 = string(r.AppendKey(nil, LevelSyntax)), string(r.AppendKey(nil, LevelEquivalent))
	} else {
		o.kind = hostKinds[r.In.HostKind()]
	}
	for _, d := range r.Diagnostics {
		if isValidationError(d.Flag) {
			o.errors = append(o.errors, vectorError{d.Flag.String(), d.At})
		}
	}
	return o
}

// vectorRun normalizes src, against base if that is not empty, with the public
// calls and with the full parsers without the fast paths. Both must agree.
func vectorRun(t *testing.T, n *Normalizer, base, src []byte) outcome {
	t.Helper()
	var r, slow Result
	text, err := n.AppendRef(nil, base, src, &r)
	got := outcomeOf(n, src, text, err, &r)
	text, err = vectorSlow(n, base, src, &slow)
	if want := outcomeOf(n, src, text, err, &slow); !got.equal(want) {
		t.Errorf("%q against %q: the fast path says %+v, the parser %+v", src, base, got, want)
	}
	text, err = vectorSlow(n, base, src, &slow) // reuse the Result and its base
	if again := outcomeOf(n, src, text, err, &slow); !got.equal(again) {
		t.Errorf("%q against %q: with a used Result %+v, with a new one %+v", src, base, again, got)
	}
	return got
}

// vectorOne normalizes src with room for one diagnostic. That diagnostic must
// be one of all, and the flags must show whether there are more.
func vectorOne(t *testing.T, all, one *Normalizer, base, src []byte) {
	t.Helper()
	var r, few Result
	_, _ = vectorSlow(all, base, src, &r)
	_, _ = vectorSlow(one, base, src, &few)
	ok := len(few.Diagnostics) == min(1, len(r.Diagnostics)) && few.Flags.Has(FlagDiagnosticsDropped) == (len(r.Diagnostics) > 1)
	for _, d := range few.Diagnostics {
		ok = ok && slices.Contains(r.Diagnostics, d)
	}
	if !ok {
		t.Errorf("%q against %q: with room for one diagnostic %v, flags %v; all are %v", src, base, few.Diagnostics, flagNamesOf(few.Flags), r.Diagnostics)
	}
}

// vectorSlow is AppendRef without the fast paths. In RFC 3986 profiles, only
// Append has them.
func vectorSlow(n *Normalizer, base, src []byte, r *Result) ([]byte, error) {
	switch {
	case len(base) == 0:
		return n.appendFull(nil, src, r)
	case n.profile.Standard != WHATWG:
		return n.AppendRef(nil, base, src, r)
	}
	b := n.readBase(base, &r.scratch)
	if b.err != 0 {
		r.reset()
		return nil, ErrBase
	}
	return n.appendBrowser(nil, b, src, r)
}

// vectorParse is Parse, with and without the fast paths.
func vectorParse(t *testing.T, src []byte) outcome {
	t.Helper()
	var r, slow Result
	got := outcomeOf(nil, src, nil, Parse(src, &r), &r)
	var err error
	if e := verbatim.read(nil, src, &slow); e != 0 {
		err = e
	}
	want := outcomeOf(nil, src, nil, err, &slow)
	want.out = got.out // Parse has no output
	if !got.equal(want) {
		t.Errorf("%q: the fast path says %+v, the parser %+v", src, got, want)
	}
	if err := r.In.Check(src); err != nil {
		t.Errorf("%q: %v", src, err)
	}
	return got
}

// violations returns the names of the flags that violate the grammar of RFC
// 3986.
func (o outcome) violations() []string { return flagNamesOf(o.flags.Intersect(violations)) }

// validationErrors returns the names of the validation errors of the URL
// Standard.
func validationErrors() (names []string) {
	for f := range Flag(numFlags) {
		if isValidationError(f) {
			names = append(names, f.String())
		}
	}
	return names
}

// flagNamesOf returns the names of the flags of s, sorted.
func flagNamesOf(s Flags) []string {
	names := []string{}
	for f := range s.All() {
		names = append(names, f.String())
	}
	slices.Sort(names)
	return names
}

// checkPort compares the number of a port with its digits.
func checkPort(t *testing.T, u *URL, src []byte) {
	t.Helper()
	want, err := strconv.ParseUint(string(u.Bytes(src, Port)), 10, 16)
	if got, ok := u.PortNumber(); ok != (err == nil) || ok && uint64(got) != want {
		t.Errorf("%q: the port is %d, %v; want %d", src, got, ok, want)
	}
}

// urlParts returns the components of src by name, with bytes that are not UTF-8
// as \xNN.
func urlParts(u *URL, src []byte) map[string]string {
	parts := map[string]string{}
	for c := Scheme; c <= Fragment; c++ {
		if u.Has(c) {
			parts[c.String()] = printable(u.Bytes(src, c))
		}
	}
	return parts
}

func printable(b []byte) string {
	var out []byte
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			out = fmt.Appendf(out, `\x%02x`, b[0])
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return string(out)
}
