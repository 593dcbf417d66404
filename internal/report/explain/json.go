package explain

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
)

// An object is an explanation as JSON. Its member names equal the output fields
// of the one-shot, and scripts depend on them.
type object struct {
	URL         *string          `json:"url,omitempty"`
	URLB64      string           `json:"url_b64,omitempty"`
	Norm        *string          `json:"norm,omitempty"`
	Key         string           `json:"key,omitempty"`
	Level       string           `json:"level"`
	Change      string           `json:"change,omitempty"`
	Flags       []string         `json:"flags"`
	Diagnostics []diagnosticJSON `json:"diagnostics"`
	Scheme      *string          `json:"scheme,omitempty"`
	Username    *string          `json:"username,omitempty"`
	Host        *string          `json:"host,omitempty"`
	Port        *string          `json:"port,omitempty"`
	Path        *string          `json:"path,omitempty"`
	Query       *string          `json:"query,omitempty"`
	Fragment    *string          `json:"fragment,omitempty"`
	Error       string           `json:"error,omitempty"`
	ErrorAt     *uint32          `json:"at,omitempty"`
	Profile     string           `json:"profile"`
	Standard    string           `json:"standard"` // standard of the profile
	Function    string           `json:"key_function"`
	RFC         standing         `json:"rfc"`
	WHATWG      standing         `json:"whatwg"`
	Syntax      *string          `json:"syntax,omitempty"`
	Equivalent  *string          `json:"equivalent,omitempty"`
	Fetch       *string          `json:"fetch,omitempty"`
	Page        *string          `json:"page,omitempty"`
	Shape       *string          `json:"shape,omitempty"`
	Match       *string          `json:"match,omitempty"`
	Site        string           `json:"site,omitempty"`
	SURT        *string          `json:"surt,omitempty"`
	Template    *string          `json:"template,omitempty"`
	IRI         *string          `json:"iri,omitempty"`
	Policy      string           `json:"policy,omitempty"`  // versions of the lists used by fetch, page and shape
	Skipped     []skipJSON       `json:"skipped,omitempty"` // items of these lists that rules cannot express exactly
	Steps       []stepJSON       `json:"steps,omitempty"`
	KeySteps    []keyJSON        `json:"key_steps,omitempty"`
	Expressions []expressionJSON `json:"expressions,omitempty"` // with a profile that matches Safe Browsing
	VS          *pairJSON        `json:"vs,omitempty"`
}

type skipJSON struct {
	Source string `json:"source"`
	What   string `json:"what"`
}

type diagnosticJSON struct {
	Flag      string `json:"flag"`
	At        uint32 `json:"at"`
	Component string `json:"component"`
	Action    string `json:"action"`
}

// A stepJSON is an applied rule. Before is null if the rule has added the
// component; After is null if it has removed the component.
type stepJSON struct {
	Rule      string  `json:"rule"`
	Step      string  `json:"step,omitempty"` // step of the program that a profile matches
	Clause    string  `json:"clause"`
	Component string  `json:"component"`
	Before    *string `json:"before"`
	After     *string `json:"after"`
}

// step returns st as JSON.
func (x *Explainer) step(st *codec.Step) stepJSON {
	d := x.hideDifference(difference{st.Component.String(), st.Before, st.After})
	o := stepJSON{Rule: st.Rule.String(), Clause: st.Clause(), Component: d.component, Before: &d.before, After: &d.after}
	if st.Rule.String() == "match" {
		o.Step = st.Param
	}
	if st.Added {
		o.Before = nil
	}
	if st.Removed {
		o.After = nil
	}
	return o
}

// A keyJSON is a rule applied to derive the key of a level from the key of the
// previous level.
type keyJSON struct {
	Level string `json:"level"`
	stepJSON
	Param  string `json:"param,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// A pairJSON is the other URL of a comparison, and the result.
type pairJSON struct {
	*object
	Share  bool        `json:"share"`          // whether the keys of the profile's level are equal
	Meet   string      `json:"meet,omitempty"` // lowest level at which the keys are equal
	Levels []levelJSON `json:"levels"`
}

type levelJSON struct {
	Level  string   `json:"level"`
	Equal  bool     `json:"equal"`
	Differ []string `json:"differ_in,omitempty"`
	By     []string `json:"by,omitempty"` // rules that make the keys equal here
}

// A JSONWriter formats each explanation as a JSON object on one line.
type JSONWriter struct {
	*Explainer
	w   *bufio.Writer
	enc *json.Encoder
}

// NewJSONWriter returns a writer for the explanations of x. Call Flush at the
// end.
func NewJSONWriter(w io.Writer, x *Explainer) *JSONWriter {
	j := &JSONWriter{Explainer: x, w: bufio.NewWriter(w)}
	j.enc = json.NewEncoder(j.w)
	j.enc.SetEscapeHTML(false)
	return j
}

// Write writes an explanation. Flush returns write errors.
func (j *JSONWriter) Write(e *Explanation) { _ = j.enc.Encode(j.object(e)) }

// WritePair writes the explanation of the first URL, with the other URL in the
// member "vs". Flush returns write errors.
func (j *JSONWriter) WritePair(p *Pair) {
	o := j.object(p.a)
	o.VS = j.pairObject(p)
	_ = j.enc.Encode(o)
}

// Flush writes buffered data and returns the first error of all writes.
func (j *JSONWriter) Flush() error { return j.w.Flush() }

// object returns e as JSON.
func (x *Explainer) object(e *Explanation) *object {
	p := x.norm.Profile()
	o := &object{
		Level: x.level.String(), Profile: p.Name, Standard: p.Standard.String(), Function: x.norm.KeyFunction(x.level),
		RFC: e.rfc.standing, WHATWG: e.whatwg.standing, Flags: []string{}, Diagnostics: []diagnosticJSON{},
	}
	if url := x.hide(string(e.src)); utf8.ValidString(url) {
		o.URL = &url
	} else {
		o.URLB64 = base64.StdEncoding.EncodeToString([]byte(url))
	}
	for f := range e.res.Flags.All() {
		o.Flags = append(o.Flags, f.String())
	}
	for _, d := range e.res.Diagnostics {
		o.Diagnostics = append(o.Diagnostics, diagnosticJSON{d.Flag.String(), d.At, d.Component.String(), d.Action.String()})
	}
	if e.err != nil {
		o.Error, o.ErrorAt = errorName(e.err), &e.res.ErrAt
		return o
	}
	norm := x.hide(string(e.norm))
	o.Norm, o.Key, o.Change = &norm, x.written(&e.keys[x.level]), e.change.String()
	for c, to := range map[codec.Component]**string{
		codec.Scheme: &o.Scheme, codec.Username: &o.Username, codec.Host: &o.Host, codec.Port: &o.Port,
		codec.Path: &o.Path, codec.Query: &o.Query, codec.Fragment: &o.Fragment,
	} {
		if e.res.Out.Has(c) {
			text := x.hideSecrets(string(e.res.Out.Bytes(e.norm, c)))
			*to = &text
		}
	}
	f := x.formsOf(e)
	f.iri, f.surt, f.template = x.hide(f.iri), x.hideSecrets(f.surt), x.hideSecrets(f.template)
	f.site = x.hideSecrets(f.site)
	o.Site, o.SURT, o.Template, o.IRI = f.site, &f.surt, &f.template, &f.iri
	o.Expressions = x.expressions(e)
	for i := range e.steps {
		o.Steps = append(o.Steps, x.step(&e.steps[i]))
	}
	for lv, to := range [codec.LevelShape + 1]**string{codec.LevelSyntax: &o.Syntax, &o.Equivalent, &o.Fetch, &o.Page, &o.Match, &o.Shape} {
		if to == nil || !e.res.HasKey(codec.Level(lv)) {
			continue
		}
		text := x.hide(e.keys[lv].text)
		*to = &text
		for i := range e.keys[lv].steps {
			st := &e.keys[lv].steps[i]
			o.KeySteps = append(o.KeySteps, keyJSON{codec.Level(lv).String(), x.step(st), x.hideSecrets(st.Param), st.Reason})
		}
	}
	if o.Policy = x.norm.PolicyVersions(x.level); o.Policy != "" {
		for _, s := range x.skipped() {
			o.Skipped = append(o.Skipped, skipJSON(s))
		}
	}
	return o
}

// pairObject returns the comparison of two URLs as JSON.
func (x *Explainer) pairObject(p *Pair) *pairJSON {
	o := &pairJSON{object: x.object(p.b), Share: p.shares, Levels: []levelJSON{}}
	if !p.parsed() {
		return o
	}
	first, meet := p.meetingLevel()
	if meet {
		o.Meet = first.String()
	}
	for _, lv := range x.levels() {
		l := levelJSON{Level: lv.String(), Equal: p.a.keys[lv].text == p.b.keys[lv].text}
		for _, d := range p.apart(lv) {
			l.Differ = append(l.Differ, d.component)
		}
		if meet && lv == first && lv > codec.LevelSyntax {
			l.By = p.mergers(lv)
		}
		o.Levels = append(o.Levels, l)
	}
	return o
}

// errorName returns the name of an error of the codec.
func errorName(err error) string {
	var e codec.Error
	if errors.As(err, &e) {
		return e.Name()
	}
	return err.Error()
}
