package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/charset"
	"github.com/urlfold/urlfold/internal/errlist"
)

// Codec is how records are read, what is done with their URLs, and what is
// written. Formats, fields and the base are for package codec/record to check.
type Codec struct {
	// The record format: a name that docs/formats.md lists, such as combined or jsonl, or the text of an nginx log_format or Apache LogFormat.
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
	options []codec.Option
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
		return errors.New("has one of jsonl, tsv and extend, or is one of the words rewrite, jsonl, tsv, urls and keys")
	}
	r.Form = forms[0]
	return nil
}

// Rules are what is changed in a built-in profile.
type Rules struct {
	// Rules of normal forms that are added.
	Add []string `yaml:"add"`
	// Rules of normal forms that are left out.
	Remove []string `yaml:"remove"`
	// Lists of parameters that K2 leaves out. Default: the built-in list.
	Lists []List `yaml:"lists"`
	// More parameters that K2 leaves out, each a rule as in a plain list.
	DropParams []string `yaml:"drop_params"`
	// Parameters that K3 leaves out.
	SiteParams []string `yaml:"site_params"`
	// All parameters that K3 keeps, by HOST, HOST/PATH or /PATH.
	KeepParams map[string][]string `yaml:"keep_params"`
	// Templates of paths for the output field template, such as /order/{uuid}. They come before the built-in ones.
	PathTemplates []string `yaml:"path_templates"`
	// Hosts whose pages are told apart by the fragment, or "*".
	SPA []string `yaml:"spa"`
	// Whether K2 and K3 tell http from https.
	KeepHTTPS bool `yaml:"keep_https"`
	// Whether K3 ignores case in paths.
	LowerPath bool `yaml:"lower_path"`
	// Whether K3 ignores case in queries.
	LowerQuery bool `yaml:"lower_query"`
	// Whether K3 takes characters of paths and queries in Normalization Form C.
	NFC bool `yaml:"nfc"`
	// Whether K3 counts a parameter once, however often it stands there with the same value.
	Once bool `yaml:"once"`
}

// hasPolicy reports whether there is more than rules of normal forms.
func (r *Rules) hasPolicy() bool {
	p := *r
	p.Add, p.Remove = nil, nil
	return !reflect.ValueOf(p).IsZero()
}

// A List is the word default, or a file with rules for parameters.
type List struct {
	// A file of the ClearURLs project.
	ClearURLs string `yaml:"clearurls"`
	// A file with a rule a line.
	Plain string `yaml:"plain"`
	// The name of the list in versions and explanations. Default: that of the file.
	Name string `yaml:"name"`
	// Its version. Default: made of what it says.
	Version string `yaml:"version"`

	isDefault bool
}

// UnmarshalText reads the name of the built-in list.
func (l *List) UnmarshalText(text []byte) error {
	if string(text) != defaultList {
		return errors.New("the built-in list is default")
	}
	l.isDefault = true
	return nil
}

// MarshalText returns the name of the built-in list, or nothing.
func (l List) MarshalText() ([]byte, error) {
	if l.isDefault {
		return []byte(defaultList), nil
	}
	return nil, nil
}

const defaultList = "default"

var rulesType = reflect.TypeFor[Rules]()

// codecRules reads rules twice: as data, and, which tells all mistakes, as what
// they mean.
func (d *decoder) codecRules(rules *Rules, n ast.Node, at string) {
	before := d.errs
	d.structure(reflect.ValueOf(rules).Elem(), n, at)
	r := &profileReader{document: document{file: d.file, exp: d.exp, errs: before}, open: d.open()}
	p := r.newPolicyReader()
	p.mapping(n, append([]keyReader{
		{"add", func(n ast.Node) { r.add = r.ruleSet(n, r.remove) }},
		{"remove", func(n ast.Node) { r.remove = r.ruleSet(n, r.add) }},
	}, p.fields()...)...)
	p.compileParams(n)
	d.errs, d.rules = r.errs, p
}

func (d *decoder) open() func(string) ([]byte, error) {
	if d.exp.env.ReadFile == nil {
		return nil
	}
	return d.exp.open
}

// resolve finds out what the section means, and notes what is wrong with it.
func (d *decoder) resolve(c *Codec) {
	d.resolveReject(c)
	d.resolveRender(&c.Render)
	d.resolveHash(c)
	d.resolveProfile(c)
	c.styles = d.resolveParams(c.Params, "codec.params")
	d.resolveEncoding(c)
	if !slices.ContainsFunc([]string{"profile", "rules", "key", "standard"}, func(key string) bool { return d.broken[in("codec", key)] }) {
		d.resolveRules(c)
	}
}

func (d *decoder) failText(path string, reason string) { d.failPath(path, errors.New(reason)) }

func (d *decoder) resolveProfile(c *Codec) {
	if !strings.HasSuffix(c.Profile, ".yaml") && !strings.HasSuffix(c.Profile, ".yml") {
		var ok bool
		if c.profile, ok = codec.Lookup(c.Profile); !ok && c.Profile != "" {
			d.failText("codec.profile", noSuch("built-in profile", profileNames(), c.Profile))
		}
		c.policy = codec.DefaultPolicy()
		return
	}
	open := d.open()
	switch {
	case strings.Contains(c.Profile, "://"):
		d.failText("codec.profile", "this is a URL, and not a file: nothing is fetched")
		return
	case open == nil:
		d.failText("codec.profile", "no files can be read here")
		return
	}
	data, err := open(c.Profile)
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
		return open(name)
	}
	if c.profile, c.policy, err = ParseProfile(name, data, beside); err != nil {
		d.others = append(d.others, errlist.Flatten(err)...)
		d.spoil("codec.profile")
	}
	if c.Rules.hasPolicy() {
		d.failText("codec.rules", "the profile is a file, and has a policy of its own: these rules belong there")
	}
}

func (d *decoder) resolveEncoding(c *Codec) {
	if c.QueryEncoding == "" {
		return
	}
	e, err := charset.Lookup(c.QueryEncoding)
	switch {
	case err != nil:
		d.failText("codec.query_encoding", noSuch("encoding", charset.Names(), c.QueryEncoding))
	case d.broken["codec.profile"]:
	case e != nil && c.profile.Standard != codec.WHATWG:
		d.failText("codec.query_encoding", "goes with profiles of the whatwg reading")
	case e != nil:
		c.options = append(c.options, codec.WithQueryEncoding(e))
	}
}

// A hiddenError is an error whose text is not shown.
type hiddenError struct {
	reason string
	err    error
}

func (e *hiddenError) Error() string { return e.reason }
func (e *hiddenError) Unwrap() error { return e.err }

func profileNames() []string {
	var names []string
	for _, p := range codec.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

func (d *decoder) resolveHash(c *Codec) {
	if d.broken["codec.hash"] || d.broken["codec.hmac_key"] {
		return
	}
	h, _ := codec.ParseHash(c.Hash) // the tag has the names
	switch key := c.HMACKey.Reveal(); {
	case h != codec.HMACSHA256 && key != "":
		d.failText("codec.hmac_key", "a key belongs to hash: hmac-sha256")
	case h != codec.HMACSHA256:
		c.options = append(c.options, codec.WithHash(h))
	case len(key) < codec.MinHMACKey:
		d.failText("codec.hmac_key", fmt.Sprintf("hmac-sha256 needs a key of at least %d bytes", codec.MinHMACKey))
	default:
		c.options = append(c.options, codec.WithHMACKey([]byte(key)))
	}
}

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
	type line struct {
		name string
		at   int
	}
	var lines []line
	for name := range r.Extend {
		lines = append(lines, line{name, start(d.places[in("codec.render.extend", name)].key).Position.Offset})
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	for _, l := range lines {
		r.names = append(r.names, l.name)
	}
}

func isErrorName(name string) bool {
	_, err := codec.ParseError(name)
	return err == nil
}

// resolveRules puts the profile together, and has the codec look for
// contradictions.
func (d *decoder) resolveRules(c *Codec) {
	p := &c.profile
	if r := d.rules; r != nil {
		*p = p.Change(r.add, r.remove)
		if c.Rules.hasPolicy() {
			c.policy = r.policy
		}
	}
	if lv, err := codec.ParseLevel(c.Key); err == nil {
		p.Key = lv
	}
	if c.MaxURL > 0 {
		p.MaxLen = int(c.MaxURL)
	}
	c.options = append(c.options, codec.WithPolicy(c.policy))
	if rd, err := codec.ParseStandard(c.Standard); err == nil {
		c.options = append(c.options, codec.WithStandard(rd))
	}
	_, err := codec.New(*p, c.options...)
	var refused *codec.ProfileError
	switch {
	case err == nil:
	case errors.As(err, &refused):
		d.failPath("codec.rules", &hiddenError{"the profile " + refused.Reason, err})
	default:
		d.failPath("codec", err)
	}
}

// Resolve returns the profile with all that the section changes in it, the policy
// for its keys, and the options for codec.New, the policy among them.
func (c *Codec) Resolve() (codec.Profile, *codec.Policy, []codec.Option) {
	return c.profile, c.policy, c.options
}

// Styles returns how parameters are written, nil if the section does not say it.
func (c *Codec) Styles() *params.Styles { return c.styles }

// Rejected returns which URLs are rejected although they have a reading.
func (c *Codec) Rejected() Rejected { return c.reject }
