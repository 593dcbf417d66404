package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/errlist"
)

// Codec is how records are read, what is done with their URLs, and what is
// written. Formats, fields and the base are for package codec/record to check.
type Codec struct {
	// The record format: a name that docs/reference/formats.md lists, such as combined or jsonl, or the text of an nginx log_format or Apache LogFormat.
	Format string `yaml:"format,required" min:"1"`
	// How the writer of a log escapes. Default: what the format says.
	Dialect string `yaml:"dialect" enum:"nginx,nginx-json,apache,none"`
	// Which URLs of an access log: all reads those that the format has.
	Target string `yaml:"target" enum:"request,referer,all"`
	// Where the URL is: a path such as request.uri (jsonl), or the name or number of a column (csv, tsv).
	URLField string `yaml:"url_field"`
	// Where the base is that the URL is resolved against, in the same way.
	BaseField string `yaml:"base_field"`
	// One base for all relative URLs. {name} stands for a field of the record.
	Base string `yaml:"base"`
	// What to change: the name of a built-in profile, or a YAML file.
	Profile string `yaml:"profile" min:"1"`
	// The level of keys. Default: that of the profile.
	Key string `yaml:"key" enum:"k0,k1,k2,k3"`
	// The standard by which keys are computed. Default: that of the profile.
	Standard string `yaml:"standard" enum:"rfc3986,whatwg"`
	// The encoding of queries in the input, by a label of the Encoding Standard, such as windows-1252: what browsers do on pages in it. Default: utf-8.
	QueryEncoding string `yaml:"query_encoding"`
	// The hash of keys.
	Hash string `yaml:"hash" enum:"xxh3-128,sha256-128,hmac-sha256"`
	// The key of hmac-sha256, at least 16 bytes.
	HMACKey field.Secret `yaml:"hmac_key"`
	// How keys are written.
	KeyFormat string `yaml:"key_format" enum:"hex,base32"`
	// The longest URL that is accepted. Default: that of the profile, or 64KiB.
	MaxURL field.Size `yaml:"max_url" min:"1" max:"1GiB"`
	// What is changed in a built-in profile.
	Rules Rules `yaml:"rules"`
	// How parameters are written, for the output field params: OpenAPI parameter styles. Default: what the profile says.
	Params []Param `yaml:"params"`
	// What is written.
	Render Render `yaml:"render" enum:"rewrite,jsonl,tsv,urls,keys"`
	// Whether passwords in URLs are written as ***.
	Redact bool `yaml:"redact"`
	// Names of flags: a URL that has one of them is rejected. scheme-not-http stands for every scheme but http and https. Names of errors are taken too, and change nothing: such URLs are always rejected.
	Reject []string `yaml:"reject"`
	// What becomes of a record that is not of the format. Default: as pipeline.on_reject.
	OnUnparsed string `yaml:"on_unparsed" enum:"pass_through,dead_letter,drop"`
	// Names of parameters whose values are written as ***.
	Secrets []string `yaml:"secrets"`
	// Defects to repair, by the names of their flags: %u0041 as JavaScript wrote it, %2541 that was escaped twice, and entities of HTML.
	Repairs []string `yaml:"repairs" enum:"percent-u,double-encoded,html-entity"`

	profile codec.Profile
	policy  *codec.Policy
	reject  Rejected
	styles  *params.Styles
}

// Rejected is which URLs are rejected although they have a reading.
type Rejected struct {
	Flags   codec.Flags // those with one of these
	NotHTTP bool        // those with another scheme than http and https
}

// Render is what is written: one of the built-in forms, or one with choices of
// its own.
type Render struct {
	Form string // rewrite, jsonl, tsv, urls, keys or extend

	// JSON lines with these fields.
	JSONL *Fields `yaml:"jsonl"`
	// Lines with these fields and tabs between them.
	TSV *Fields `yaml:"tsv"`
	// The record as it came, with fields added: a name for each, and what it holds.
	Extend map[string]string `yaml:"extend" min:"1"`

	names []string // of Extend, in the order in which they were written
}

// Names returns the names of the fields that are added to records, in the order of
// the file: of a table they are columns.
func (r *Render) Names() []string { return r.names }

// Fields are fields of the output.
type Fields struct {
	// The names of the fields, in this order.
	Fields []string `yaml:"fields,required" min:"1"`
}

// UnmarshalText reads a built-in form.
func (r *Render) UnmarshalText(text []byte) error {
	*r = Render{Form: string(text)}
	return nil
}

// MarshalText returns the name of a built-in form, or nothing.
func (r Render) MarshalText() ([]byte, error) {
	if r.JSONL != nil || r.TSV != nil || r.Extend != nil {
		return nil, nil
	}
	return []byte(r.Form), nil
}

// Validate checks that there is one form, and notes it.
func (r *Render) Validate() error {
	var forms []string
	for _, f := range []struct {
		name string
		is   bool
	}{{"jsonl", r.JSONL != nil}, {"tsv", r.TSV != nil}, {"extend", r.Extend != nil}} {
		if f.is {
			forms = append(forms, f.name)
		}
	}
	if len(forms) != 1 {
		return errors.New("must be one of the words rewrite, jsonl, tsv, urls and keys, or a mapping with exactly one of jsonl, tsv and extend")
	}
	r.Form = forms[0]
	return nil
}

// Rules are what is changed in a built-in profile.
type Rules struct {
	RuleChanges
	Policy
}

// RuleChanges are rules of normal forms that a profile has more, or less, than a
// built-in one.
type RuleChanges struct {
	// Rules of normal forms that are added.
	Add []string `yaml:"add"`
	// Rules of normal forms that are left out.
	Remove []string `yaml:"remove"`
}

// resolve finds out what the section means, and notes what is wrong with it.
func (d *decoder) resolve(c *Codec) {
	d.resolveReject(c)
	d.resolveRender(&c.Render)
	d.resolveProfile(c)
	c.styles = d.resolveParams(c.Params, "codec.params")
	d.resolveRules(c)
}

func (d *decoder) failText(path string, reason string) { d.failPath(path, errors.New(reason)) }

func (d *decoder) resolveProfile(c *Codec) {
	if !IsProfileFile(c.Profile) {
		c.profile = d.builtIn(c.Profile, "codec.profile")
		c.policy = codec.DefaultPolicy()
		return
	}
	switch {
	case strings.Contains(c.Profile, "://"):
		d.failText("codec.profile", "this is a URL, and not a file: nothing is fetched")
		return
	case d.open == nil:
		d.failText("codec.profile", "no files can be read here")
		return
	}
	data, err := d.open(c.Profile)
	if err != nil {
		d.failPath("codec.profile", &hiddenError{fileReason(err), err})
		return
	}
	name := c.Profile
	if raw, ok := d.raw["codec.profile"]; ok {
		name = raw
	}
	beside := func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(c.Profile), name)
		}
		return d.open(name)
	}
	if c.profile, c.policy, err = ParseProfile(name, data, beside); err != nil {
		d.others = append(d.others, errlist.Flatten(err)...)
		d.spoil("codec.profile")
	}
	if !c.Rules.isZero() {
		d.failText("codec.rules", "the profile is a file, and has a policy of its own: these rules belong there")
	}
}

// A hiddenError is an error whose text is not shown.
type hiddenError struct {
	reason string
	err    error
}

func (e *hiddenError) Error() string { return e.reason }
func (e *hiddenError) Unwrap() error { return e.err }

const notHTTP = "scheme-not-http"

func (d *decoder) resolveReject(c *Codec) {
	for i, name := range c.Reject {
		flag, notFlag := codec.ParseFlag(name)
		switch {
		case name == "":
		case name == notHTTP:
			c.reject.NotHTTP = true
		case notFlag == nil:
			c.reject.Flags = c.reject.Flags.With(flag)
		case !isErrorName(name):
			d.failText(element("codec.reject", i), noSuchFlag(append(codec.AllFlags().Names(), notHTTP), name))
		}
	}
}

func (d *decoder) resolveRender(r *Render) {
	r.names = d.written("codec.render.extend", sortedKeys(r.Extend))
}

func isErrorName(name string) bool {
	_, err := codec.ParseError(name)
	return err == nil
}

// resolveRules puts the profile together, and has the codec look for
// contradictions.
func (d *decoder) resolveRules(c *Codec) {
	p := &c.profile
	add, remove := d.ruleSets(&c.Rules.RuleChanges, "codec.rules")
	if !c.Rules.isZero() {
		c.policy = d.compilePolicy(&c.Rules.Policy, "codec.rules")
	}
	if slices.ContainsFunc([]string{"profile", "rules", "key", "max_url"}, func(key string) bool { return d.broken[in("codec", key)] }) {
		return
	}
	*p = p.Change(add, remove)
	if lv, err := codec.ParseLevel(c.Key); err == nil {
		p.Key = lv
	}
	if c.MaxURL > 0 {
		p.MaxLen = int(c.MaxURL)
	}
	d.checkProfile(*p, c.policy, "codec.rules")
}

// Resolve returns the profile with all that the section changes in it, and the
// policy for its keys.
func (c *Codec) Resolve() (codec.Profile, *codec.Policy) { return c.profile, c.policy }

// Styles returns how parameters are written, nil if the section does not say it.
func (c *Codec) Styles() *params.Styles { return c.styles }

// Rejected returns which URLs are rejected although they have a reading.
func (c *Codec) Rejected() Rejected { return c.reject }
