package explain

import (
	"slices"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// MaxDiagnostics is how many diagnostics an explanation has use for: the drawing
// has a letter for each. It is meant for [codec.Profile].
const MaxDiagnostics = 52

// Options says how an [Explainer] reads URLs.
type Options struct {
	Normalizer *codec.Normalizer
	Level      codec.Level   // of the key that is compared
	KeyForm    codec.KeyForm // how keys are written
	Base       []byte        // URLs are resolved against it first; may be empty
	Redact     bool          // show *** for passwords
}

// An Explainer explains URLs. It is not safe for use by several goroutines.
type Explainer struct {
	norm  *codec.Normalizer
	level codec.Level
	form  codec.KeyForm
	base  []byte
	redactor
}

// New returns an explainer.
func New(o Options) *Explainer {
	return &Explainer{norm: o.Normalizer, level: o.Level, form: o.KeyForm, base: o.Base, redactor: redactor{on: o.Redact, base: o.Base}}
}

// An Explanation is everything there is to say about one URL. Write it before its
// explainer explains the next one, which forgets the passwords to hide.
type Explanation struct {
	src    []byte
	norm   []byte
	res    codec.Result
	err    error
	change codec.Change
	keys   [codec.K3 + 1]explainedKey
	steps  []codec.Step
	rfc    view
	whatwg view
}

// Err returns why the URL cannot be parsed, or nil.
func (e *Explanation) Err() error { return e.err }

// Explain explains src, and keeps it.
func (x *Explainer) Explain(src []byte) *Explanation {
	x.forget()
	return x.explain(src)
}

// explain explains src beside what was explained before.
func (x *Explainer) explain(src []byte) *Explanation {
	e := &Explanation{src: src, rfc: x.rfcView(src).rate(), whatwg: x.browserView(src).rate()}
	e.norm, e.err = x.norm.AppendRef(nil, x.base, src, &e.res)
	x.remember(string(src), string(e.norm), e.rfc.k1, e.whatwg.raw, e.whatwg.k1)
	if e.err == nil {
		x.ask(e)
		e.noteEmptyPair()
	}
	return e
}

// ask gets the applied rules and the keys from the codec. Nothing else in this
// package does.
func (x *Explainer) ask(e *Explanation) {
	e.change = e.res.Change()
	for lv := range codec.K3 + 1 {
		e.keys[lv] = explainedKey{
			text:  string(e.res.AppendKey(nil, lv)),
			key:   e.res.Key(lv),
			steps: e.res.TraceKey(lv),
		}
	}
	e.steps = x.norm.Trace(x.base, e.src)
}

// noteEmptyPair adds the diagnostic of an empty field in the query, which the codec
// leaves to those who read parameters.
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
	e.res.Flags = e.res.Flags.With(codec.EmptyPair)
	e.res.Diagnostics = slices.Insert(e.res.Diagnostics, i, codec.Diagnostic{At: at, Flag: codec.EmptyPair, Component: codec.Query, Action: codec.Kept})
}
