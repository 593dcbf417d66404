package codec

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/percent"
)

// TestVectorsURLStandard runs testdata/vectors/url-standard.jsonl: hrefs,
// components, failures, and the validation errors with their offsets.
func TestVectorsURLStandard(t *testing.T) {
	type vector struct {
		Clause, Input, Base, Encoding string
		Href, Equiv, Change           string
		Failure                       bool
		At                            uint32
		HostKind                      string `json:"host_kind"`
		K0, K1                        string
		Parts                         map[string]string
		Errors                        []vectorError
	}
	n, equiv := vectorNormalizer(t, "whatwg"), vectorNormalizer(t, "equiv")
	p := n.Profile()
	p.MaxDiagnostics = 1
	one := newNormalizer(t, p)
	encodings := map[string]*Normalizer{"": n, "iso-8859-1": vectorNormalizer(t, "whatwg", WithQueryEncoding(latin1{}))}
	names := map[string]int{}
	clean := newNormalizer(t, Profile{Name: "clean", Standard: WHATWG, Rules: RulesOf(RuleUpperEscapes, RuleDecodeUnreserved, RuleRFCClean)})
	readVectors(t, "url-standard.jsonl", 1630, func(line int, v *vector) {
		got := vectorRun(t, encodings[v.Encoding], []byte(v.Base), []byte(v.Input))
		if got.text != v.Href || (got.err != 0) != v.Failure || v.Failure && got.errAt != v.At {
			t.Errorf("%d: %s: %q against %q: %q, %v at %d; want %q, failure %v at %d",
				line, v.Clause, v.Input, v.Base, got.text, got.err, got.errAt, v.Href, v.Failure, v.At)
			return
		}
		if !slices.Equal(got.errors, v.Errors) {
			t.Errorf("%d: %s: %q against %q: validation errors %v, want %v", line, v.Clause, v.Input, v.Base, got.errors, v.Errors)
		}
		for _, e := range v.Errors {
			names[e.Name]++
		}
		vectorOne(t, n, one, []byte(v.Base), []byte(v.Input))
		checkTrace(t, n, []byte(v.Base), []byte(v.Input))
		checkIPv4Value(t, v.Input, v.Parts["hostname"])
		if v.Failure {
			return
		}
		if e := vectorRun(t, clean, []byte(v.Base), []byte(v.Input)); !vectorParse(t, []byte(e.text)).valid {
			t.Errorf("%d: %s: %q against %q: rfc-clean made %q, which is not a URI", line, v.Clause, v.Input, v.Base, e.text)
		}
		checkPort(t, &got.out, []byte(got.text))
		if got.kind != v.HostKind || got.k0 != v.K0 || got.k1 != v.K1 {
			t.Errorf("%d: %s: %q against %q: host %s, K0 %q, K1 %q; want %s, %q, %q",
				line, v.Clause, v.Input, v.Base, got.kind, got.k0, got.k1, v.HostKind, v.K0, v.K1)
		}
		if v.Change != "" && got.change != v.Change {
			t.Errorf("%d: %s: %q against %q: change is %s, want %s", line, v.Clause, v.Input, v.Base, got.change, v.Change)
		}
		if v.Equiv != "" {
			if e := vectorRun(t, equiv, []byte(v.Base), []byte(v.Input)); e.text != v.Equiv {
				t.Errorf("%d: %s: %q against %q: equiv is %q, %v; want %q", line, v.Clause, v.Input, v.Base, e.text, e.err, v.Equiv)
			}
		}
		if err := got.out.Check([]byte(got.text)); err != nil {
			t.Errorf("%d: %q: %v", line, v.Input, err)
		}
		if parts := getters(&got.out, []byte(got.text)); !maps.Equal(parts, v.Parts) {
			t.Errorf("%d: %q against %q: components %q, want %q", line, v.Input, v.Base, parts, v.Parts)
		}
		if again := vectorRun(t, n, nil, []byte(v.Href)); again.text != v.Href {
			t.Errorf("%d: %q: parsed again: %q, %v", line, v.Href, again.text, again.err)
		}
	})
	for _, name := range validationErrors() {
		if names[name] == 0 {
			t.Errorf("no vector has the validation error %s", name)
		}
	}
}

// checkIPv4Value compares the IPv4 parser used for keys with the expected host
// of input, http://HOST/, where HOST ends in a number.
func checkIPv4Value(t *testing.T, input, hostname string) {
	t.Helper()
	host, ok := strings.CutPrefix(strings.TrimSuffix(input, "/"), "http://")
	host = strings.TrimSuffix(host, ".")
	if !ok || !isStrict([]byte(host)) || !endsInNumber([]byte(host)) {
		return
	}
	got := ""
	if addr, ok := ipv4Value([]byte(host)); ok {
		got = string(ip.AppendV4(nil, addr))
	}
	if got != hostname {
		t.Errorf("%q: the address is %q, want %q", input, got, hostname)
	}
}

// getters returns the nonempty components as returned by the getters of the URL
// class.
func getters(u *URL, text []byte) map[string]string {
	parts := map[string]string{}
	for i, s := range wptParts(u, text) {
		if s != "" {
			parts[[...]string{"protocol", "username", "password", "hostname", "port", "pathname", "search", "hash"}[i]] = s
		}
	}
	return parts
}

// TestVectorsSyntax runs rfc3986-syntax.jsonl: components, the verdict of the
// grammar of RFC 3986 appendix A, and the names of the violations.
func TestVectorsSyntax(t *testing.T) {
	type vector struct {
		Clause     string
		Input      *string
		InputHex   *string `json:"input_hex"`
		Grammar    string
		Violations []string
		Failure    bool
		HostKind   string `json:"host_kind"`
		Parts      map[string]string
	}
	reject := newNormalizer(t, Profile{Name: "reject", Standard: RFC3986, Malformed: percent.MalformedReject, MaxDiagnostics: MaxDiagnostics})
	readVectors(t, "rfc3986-syntax.jsonl", 560, func(line int, v *vector) {
		src, ok := vectorText(v.Input, v.InputHex)
		if !ok {
			t.Fatalf("%d: no input", line)
		}
		got := vectorParse(t, src)
		if parts := urlParts(&got.in, src); !maps.Equal(parts, v.Parts) {
			t.Errorf("%d: %s: %q: components %q, want %q", line, v.Clause, src, parts, v.Parts)
		}
		if (got.err == ErrHostInvalid) != v.Failure {
			t.Errorf("%d: %s: %q: %v, want failure %v", line, v.Clause, src, got.err, v.Failure)
		}
		if v.Failure {
			return
		}
		checkPort(t, &got.in, src)
		if got.kind != v.HostKind {
			t.Errorf("%d: %s: %q: host %s, want %s", line, v.Clause, src, got.kind, v.HostKind)
		}
		malformed := slices.ContainsFunc(v.Violations, func(s string) bool { return s == "truncated" || s == "non-hex" || s == "percent-u" })
		if r := vectorRun(t, reject, nil, src); (r.err == ErrBadEscape) != malformed {
			t.Errorf("%d: %s: %q: where malformed escapes are rejected: %v", line, v.Clause, src, r.err)
		}
		if names := got.violations(); !slices.Equal(names, v.Violations) || got.valid != (v.Grammar != "") {
			t.Errorf("%d: %s: %q: violations %q, want %q; grammar %q", line, v.Clause, src, names, v.Violations, v.Grammar)
		}
		if v.Grammar != "" && got.flags.Has(FlagRelative) != (v.Grammar == "relative-ref") {
			t.Errorf("%d: %s: %q: relative is %v, grammar %s", line, v.Clause, src, got.flags.Has(FlagRelative), v.Grammar)
		}
	})
}

// TestVectorsResolve runs rfc3986-resolve.jsonl: targets of references, RFC
// 3986 section 5, and their normal forms.
func TestVectorsResolve(t *testing.T) {
	type vector struct {
		Clause    string
		Base      *string
		Ref       *string
		RefHex    *string `json:"ref_hex"`
		Target    *string
		TargetHex *string `json:"target_hex"`
		Error     string
	}
	n := vectorNormalizer(t, "rfc3986")
	readVectors(t, "rfc3986-resolve.jsonl", 445, func(line int, v *vector) {
		base := []byte(*v.Base)
		ref, ok := vectorText(v.Ref, v.RefHex)
		want, _ := vectorText(v.Target, v.TargetHex)
		if !ok {
			t.Fatalf("%d: no reference", line)
		}
		got, err := Resolve(nil, base, ref)
		if string(got) != string(want) || errorName(err) != v.Error {
			t.Errorf("%d: %s: %q against %q: %q, %v; want %q, %s", line, v.Clause, ref, base, got, err, want, v.Error)
			return
		}
		if len(base) == 0 {
			return // AppendRef without a base is Append
		}
		resolved := vectorRun(t, n, base, ref)
		if schemeEnd(ref) > 0 { // AppendRef does not resolve an absolute reference
			if direct := vectorRun(t, n, nil, ref); resolved.text != direct.text || resolved.out != direct.out || resolved.err != direct.err {
				t.Errorf("%d: %s: %q against %q: normal form %q, %v; without the base %q, %v", line, v.Clause, ref, base, resolved.text, resolved.err, direct.text, direct.err)
			}
			return
		}
		if v.Error != "" {
			if resolved.err.Name() != v.Error {
				t.Errorf("%d: %s: %q against %q: AppendRef returns %v, want %s", line, v.Clause, ref, base, resolved.err, v.Error)
			}
			return
		}
		if direct := vectorRun(t, n, nil, want); resolved.text != direct.text || resolved.out != direct.out {
			t.Errorf("%d: %s: %q against %q: normal form %q, of the target %q", line, v.Clause, ref, base, resolved.text, direct.text)
		}
	})
}

// errorName returns the name of an Error, or "" for none.
func errorName(err error) string {
	var e Error
	if errors.As(err, &e) {
		return e.Name()
	}
	return ""
}

// TestVectorsNormalize runs rfc3986-normalize.jsonl: the normal forms of RFC
// 3986 sections 6.2.2 (syntax-based) and 6.2.3 (scheme-based).
func TestVectorsNormalize(t *testing.T) {
	type vector struct {
		Clause         string
		Input          *string
		InputHex       *string `json:"input_hex"`
		Syntax, Scheme string
		Error          string
	}
	profiles := []*Normalizer{vectorNormalizer(t, "rfc3986"), vectorNormalizer(t, "rfc3986-scheme")}
	readVectors(t, "rfc3986-normalize.jsonl", 400, func(line int, v *vector) {
		src, ok := vectorText(v.Input, v.InputHex)
		if !ok {
			t.Fatalf("%d: no input", line)
		}
		for i, want := range []string{v.Syntax, v.Scheme} {
			got := vectorRun(t, profiles[i], nil, src)
			name := ""
			if got.err != 0 {
				name = got.err.Name()
			}
			if got.text != want || name != v.Error {
				t.Errorf("%d: %s: %s: %q: %q, %v; want %q %s", line, v.Clause, profiles[i].Profile().Name, src, got.text, got.err, want, v.Error)
			}
			if err := got.out.Check([]byte(got.text)); err != nil {
				t.Errorf("%d: %q: %v", line, src, err)
			}
		}
	})
}
