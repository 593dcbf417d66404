package explain

import (
	"slices"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/ground/redact"
)

// MaxDiagnostics is the maximum number of diagnostics in an explanation, which
// has a letter for each. Use it as MaxDiagnostics of the [codec.Profile].
const MaxDiagnostics = 52

// Options configures an [Explainer].
type Options struct {
	Normalizer *codec.Normalizer
	Level      codec.Level   // level of the key to show and compare
	KeyForm    codec.KeyForm // text form of keys
	Base       []byte        // base URL for relative references; may be empty
	Redact     []string      // what to replace by ***, as in a record.Config
}

// An Explainer explains URLs. It is not safe for concurrent use.
type Explainer struct {
	norm  *codec.Normalizer
	level codec.Level
	form  codec.KeyForm
	base  []byte
	redactor
}

// New returns an Explainer. The values of o.Redact must be valid.
func New(o Options) *Explainer {
	patterns, hides, _ := redact.Parse(o.Redact)
	return &Explainer{norm: o.Normalizer, level: o.Level, form: o.KeyForm, base: o.Base, redactor: redactor{on: hides, base: o.Base, masker: patterns.NewMasker()}}
}

// An Explanation describes a URL. Write it before the next call of Explain or
// Compare, which discards the passwords to mask.
type Explanation struct {
	src    []byte
	norm   []byte
	res    codec.Result
	err    error
	change codec.Change
	keys   [codec.LevelShape + 1]explainedKey // the element LevelMatch is empty unless the profile has such keys
	steps  []codec.Step
	rfc    view
	whatwg view
}

// Err returns why the URL cannot be parsed, or nil.
func (e *Explanation) Err() error { return e.err }

// Explain explains src. The Explanation retains src.
func (x *Explainer) Explain(src []byte) *Explanation {
	x.forget()
	return x.explain(src)
}

// explain is Explain without discarding the passwords of earlier URLs.
func (x *Explainer) explain(src []byte) *Explanation {
	e := &Explanation{src: src, rfc: x.rfcView(src).rate(), whatwg: x.browserView(src).rate()}
	e.norm, e.err = x.norm.AppendRef(nil, x.base, src, &e.res)
	x.remember(string(src), string(e.norm), e.rfc.k1, e.whatwg.raw, e.whatwg.k1)
	if e.err == nil {
		e.change = e.res.Change()
		for _, lv := range x.levels() {
			e.keys[lv] = explainedKey{
				text:  string(e.res.AppendKey(nil, lv)),
				key:   e.res.Key(lv),
				steps: e.res.TraceKey(lv),
			}
		}
		e.steps = x.norm.Trace(x.base, e.src)
		e.noteEmptyPair()
	}
	return e
}

// levels returns the levels that the profile has keys of.
func (x *Explainer) levels() []codec.Level {
	levels := []codec.Level{codec.LevelSyntax, codec.LevelEquivalent, codec.LevelFetch, codec.LevelPage}
	if x.norm.Profile().Match != "" {
		levels = append(levels, codec.LevelMatch)
	}
	return append(levels, codec.LevelShape)
}

// noteEmptyPair adds the diagnostic for an empty name=value pair in the query,
// which the codec leaves to callers that parse parameters.
func (e *Explanation) noteEmptyPair() {
	query := e.res.In.Span(codec.Query)
	n := params.EmptyPair(query.In(e.src))
	if n < 0 {
		return
	}
	at := query.Start + uint32(n)
	i := slices.IndexFunc(e.res.Diagnostics, func(d codec.Diagnostic) bool { return d.At > at })
	if i < 0 {
		i = len(e.res.Diagnostics)
	}
	e.res.Flags = e.res.Flags.With(codec.FlagEmptyPair)
	e.res.Diagnostics = slices.Insert(e.res.Diagnostics, i, codec.Diagnostic{At: at, Flag: codec.FlagEmptyPair, Component: codec.Query, Action: codec.ActionKept})
}
