package explain

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/iri"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/surt"
)

// An explainedKey is the canonical string of a level, its hash, and the rules
// that derive it from the string of the previous level.
type explainedKey struct {
	text  string
	key   codec.Key
	steps []codec.Step
}

// written returns the hash of k in the configured form.
func (x *Explainer) written(k *explainedKey) string { return string(x.form.Append(nil, k.key)) }

// wholeKey returns the canonical string of a level in a form that can be parsed
// into components, with "//" where the key omits it: a page key omits "http://"
// and "https://", and a shape key omits every scheme with its slashes.
func (e *Explanation) wholeKey(lv codec.Level) string {
	text := e.keys[lv].text
	if lv != codec.LevelPage && lv != codec.LevelShape {
		return text
	}
	var r codec.Result
	_ = codec.Parse([]byte(e.keys[codec.LevelFetch].text), &r) // a key can be parsed
	scheme := string(r.In.Bytes([]byte(e.keys[codec.LevelFetch].text), codec.Scheme))
	hidden := lv == codec.LevelShape || scheme == "" || scheme == "http" || scheme == "https"
	if hidden && r.In.HasAuthority() {
		return "//" + text
	}
	return text
}

// skipped returns the items of the policy's lists that rules cannot express
// exactly.
func (x *Explainer) skipped() []params.Skipped {
	p := x.norm.Policy()
	return append(p.Params.Skipped(), p.SiteParams.Skipped()...)
}

// keyRule returns the name of a rule, followed by the parameter that it removed
// or the step of the program that it reproduces.
func keyRule(st *codec.Step) string {
	if st.Param == "" {
		return st.Rule.String()
	}
	return st.Rule.String() + " " + st.Param
}

// forms holds other forms of a URL.
type forms struct{ iri, site, surt, template string }

// formsOf returns the forms of e.
func (x *Explainer) formsOf(e *Explanation) forms {
	out := &e.res.Out
	site, _ := codec.AppendSite(nil, out.Bytes(e.norm, codec.Host), true)
	key := []byte(x.hide(e.wholeKey(x.level)))
	sortKeys := x.level == codec.LevelMatch && x.norm.Profile().HasSortKeys()
	var r codec.Result
	_ = codec.Parse(key, &r) // a key can be parsed
	f := forms{
		iri:      string(iri.Append(nil, e.norm, out)),
		site:     string(site),
		surt:     string(surt.Append(nil, key, &r.In, surt.Options{})),
		template: string(x.norm.Policy().Templates.Append(nil, out.Bytes(e.norm, codec.Path))),
	}
	if sortKeys {
		f.surt = string(e.norm)
	}
	return f
}
