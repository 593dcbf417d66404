package codec

import (
	"maps"
	"slices"
	"testing"
)

// TestVectorsURLStandard runs testdata/vectors/url-standard.jsonl: hrefs,
// components, failures, and the validation errors with their offsets.
func TestVectorsURLStandard(t *testing.T) {
	type vector struct {
		Clause, Input, Base, Encoding, Href string
		Failure                             bool
		At                                  uint32
		Parts                               map[string]string
		Errors                              []vectorError
	}
	n := vectorNormalizer(t, "whatwg")
	encodings := map[string]*Normalizer{"": n, "iso-8859-1": vectorNormalizer(t, "whatwg", WithQueryEncoding(latin1{}))}
	names := map[string]int{}
	readVectors(t, "url-standard.jsonl", 1600, func(line int, v *vector) {
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
		if v.Failure {
			return
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
	for f := range Flag(numFlags) {
		if isValidationError(f) && names[f.String()] == 0 {
			t.Errorf("no vector has the validation error %v", f)
		}
	}
}

// getters returns the components as the getters of the URL class give them, those
// that are not empty.
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
// grammar of RFC 3986 appendix A, and the names of what it does not allow.
func TestVectorsSyntax(t *testing.T) {
	type vector struct {
		Clause     string
		Input      *string
		InputHex   *string `json:"input_hex"`
		Grammar    string
		Violations []string
		Failure    bool
		Parts      map[string]string
	}
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
		found := got.flags.Intersect(violations)
		if names := flagNamesOf(found); !slices.Equal(names, v.Violations) || found.IsZero() != (v.Grammar != "") {
			t.Errorf("%d: %s: %q: violations %q, want %q; grammar %q", line, v.Clause, src, names, v.Violations, v.Grammar)
		}
		if v.Grammar != "" && got.flags.Has(Relative) != (v.Grammar == "relative-ref") {
			t.Errorf("%d: %s: %q: relative is %v, grammar %s", line, v.Clause, src, got.flags.Has(Relative), v.Grammar)
		}
	})
}

// TestVectorsResolve runs rfc3986-resolve.jsonl: targets of references, RFC 3986
// section 5, and their normal forms.
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
	readVectors(t, "rfc3986-resolve.jsonl", 440, func(line int, v *vector) {
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
			return // no base is asked of AppendRef
		}
		resolved := vectorRun(t, n, base, ref)
		if v.Error != "" {
			if resolved.err.Name() != v.Error {
				t.Errorf("%d: %s: %q against %q: AppendRef says %v, want %s", line, v.Clause, ref, base, resolved.err, v.Error)
			}
			return
		}
		if direct := vectorRun(t, n, nil, want); resolved.text != direct.text || resolved.out != direct.out {
			t.Errorf("%d: %s: %q against %q: normal form %q, of the target %q", line, v.Clause, ref, base, resolved.text, direct.text)
		}
	})
}

// errorName returns the name of an Error, "" for none.
func errorName(err error) string {
	if e, ok := err.(Error); ok {
		return e.Name()
	}
	return ""
}

// TestVectorsNormalize runs rfc3986-normalize.jsonl: the normal forms of RFC 3986
// sections 6.2.2 (syntax-based) and 6.2.3 (scheme-based).
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
