package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/ground/errlist"
)

// Codec configures how URLs are normalized, and what is written.
// Not covered by the stability page.
type Codec struct {
	// The maximum output for one record if each of its URLs repeats the record
	// in the field record. Beyond this size, URLs have an empty field record
	// and the flag record-omitted. Default: 64 times the size of the record,
	// and at least 64MiB.
	MaxExpansion field.Size `yaml:"max_expansion" max:"1GiB" flag:"max-expansion" for:"count" arg:"size" bounds:"1,16GiB" group:"Limits"`
	// The URLs of an access log to normalize. all means every URL of the format.
	Target string `yaml:"target" enum:"request,referer,all" flag:"target" for:"readers" arg:"URLs"`
	// The schema registry with the schemas of the messages. Required by the format
	// avro.
	Registry *connect.Registry `yaml:"registry" job:"Schemas"`
	// The scheme of URLs that have a host but no scheme, such as www.example.com/a, in
	// lists and in fields that hold a whole URL. Default: such URLs are relative.
	Scheme string `yaml:"scheme" enum:"http,https" flag:"scheme" for:"readers" arg:"scheme"`
	// The profile: the name of a built-in profile, or a YAML file.
	Profile string `yaml:"profile" min:"1" flag:"profile,p" for:"readers,check,explain" arg:"name" group:"Normalization" help:"apply this profile: a name that 'urlfold help profiles' lists, or a YAML file"`
	// The level of keys. Default: the profile's.
	Key string `yaml:"key" enum:"syntax,equivalent,fetch,page,match,shape" flag:"key,k" for:"readers,explain" arg:"level" group:"Normalization" job:"Level"`
	// The standard by which keys are computed. Default: the profile's.
	Standard string `yaml:"standard" enum:"rfc3986,whatwg" flag:"standard" for:"readers,explain" arg:"standard" group:"Normalization"`
	// The encoding in which queries are percent-encoded, as browsers do on pages
	// in that encoding: a label of the Encoding Standard such as windows-1252.
	// Default: utf-8.
	QueryEncoding string `yaml:"query_encoding" flag:"query-encoding" for:"readers,explain" arg:"label" group:"Normalization"`
	// The hash function of keys.
	Hash string `yaml:"hash" enum:"xxh3-128,sha256-128,hmac-sha256" flag:"hash" for:"count,seen" arg:"function" group:"Normalization"`
	// The key of hmac-sha256, at least 16 bytes.
	HMACKey field.Secret `yaml:"hmac_key"`
	// The text encoding of keys.
	KeyFormat string `yaml:"key_format" enum:"hex,base32" flag:"key-format" for:"count,query,explain" arg:"encoding" group:"Normalization" job:"KeyForm"`
	// The maximum length of a URL. Longer URLs are rejected. Default: the
	// profile's, or 64KiB.
	MaxURL field.Size `yaml:"max_url" min:"1" max:"1GiB" flag:"max-url" for:"readers,check" arg:"length" bounds:"1,1GiB" group:"Limits"`
	// Changes to a built-in profile.
	Rules Rules `yaml:"rules"`
	// The serialization of parameters for the output field params, as OpenAPI
	// parameter styles. Default: the profile's.
	Params []Param `yaml:"params"`
	// The form of the output.
	Render Render `yaml:"to" enum:"rewrite,jsonl,tsv,urls,keys,csv" flag:"to,r" for:"query" arg:"format" group:"Output" help:"write this format: rewrite (the record, with its URLs in normal form), jsonl, tsv, csv, urls, keys, extend (the record, with the fields of --extend added), parquet or arrow (typed columns). Default: parquet or arrow for an output with this extension, otherwise rewrite"`
	// The values that are replaced by *** wherever they are in the records and dead
	// letters: passwords (in URLs; every other value except none includes them), email,
	// ipv4, ipv6, jwt, or /REGEX/. Default: none.
	Redact []string `yaml:"redact" flag:"redact" for:"count,diff,collisions,check,query,explain" arg:"value" group:"Output" help:"replace this value with *** wherever it is: {}, or /REGEX/. Repeatable. Every value except none also hides the passwords in URLs"`
	// Flags whose URLs are rejected. scheme-not-http means every scheme except
	// http and https. The names of errors are accepted too but have no effect,
	// because such URLs are always rejected.
	Reject []string `yaml:"reject"`
	// The maximum length of a record. In a configuration, on_error.oversize
	// decides about longer records.
	MaxRecord field.Size `yaml:"max_record" min:"1KiB" max:"256MiB" flag:"max-record" for:"readers,check" bounds:"1,256MiB" arg:"size" group:"Limits" help:"do not parse records longer than this size, but pass them through"`
	// Names of parameters whose values are replaced by ***, wherever they are in
	// the records and dead letters.
	Secrets []string `yaml:"secret" flag:"secret" for:"count,query" arg:"name" group:"Normalization" help:"replace passwords, and the values of the parameter with this name, with ***. Repeatable"`
	// Defects to repair, by the names of their flags: %u0041 as written by
	// JavaScript's escape function, %2541 from encoding twice, and HTML entities.
	Repairs []string `yaml:"repair" enum:"percent-u,double-encoded,html-entity" flag:"repair" for:"count,query" arg:"defect" group:"Normalization" help:"repair this defect, by the name of its flag: percent-u (%u0041, as written by JavaScript's escape function), double-encoded (%2541) or html-entity. Repeatable"`

	profile codec.Profile
	policy  *codec.Policy
	reject  Rejected
	styles  *params.Styles
}

// Rejected selects valid URLs to reject. Not covered by the stability page.
type Rejected struct {
	Flags   codec.Flags // URLs with any of these flags
	NotHTTP bool        // URLs with a scheme other than http and https
}

// Render is the output format: the name of a built-in format, or a mapping that
// selects its fields. Not covered by the stability page.
type Render struct {
	Form string // rewrite, jsonl, tsv, csv, urls, keys or extend

	// JSON lines with these fields.
	JSONL *Fields `yaml:"jsonl"`
	// Tab-separated lines with these fields.
	TSV *TSV `yaml:"tsv"`
	// Lines of CSV (RFC 4180) with these fields.
	CSV *CSV `yaml:"csv"`
	// The input record with added fields: a mapping of new names to output fields.
	Extend map[string]string `yaml:"extend" min:"1"`

	names []string // keys of Extend in the order of the file
}

// Names returns the names of the fields that are added to records, in the order
// of the file. In a table they become columns in this order.
func (r *Render) Names() []string { return r.names }

// Fields lists fields of the output. Not covered by the stability page.
type Fields struct {
	// The names of the fields, in this order.
	Fields []string `yaml:"fields,required" min:"1"`
}

// TSV selects the fields of tab-separated lines. Not covered by the stability page.
type TSV struct {
	// The names of the fields, in this order.
	Fields []string `yaml:"fields,required" min:"1"`
	// Whether each file starts with a line of the names of the fields. Requires
	// that all sinks write files or stdout.
	Header bool `yaml:"header"`
}

// CSV selects the fields of lines of CSV. Not covered by the stability page.
type CSV struct {
	// The names of the fields, in this order. Default: the fields from url to
	// error.
	Fields []string `yaml:"fields" min:"1"`
	// Whether each file starts with a line of the names of the fields. true
	// requires that all sinks write files or stdout.
	Header bool `yaml:"header"`
}

func (c *CSV) setDefaults() { c.Header = true }

// Header reports whether the first line of each output holds the names of the
// fields.
func (r *Render) Header() bool {
	switch {
	case r.TSV != nil:
		return r.TSV.Header
	case r.CSV != nil:
		return r.CSV.Header
	}
	return r.Form == "csv"
}

// errParquet is the error for a format that only a one-shot run writes.
var errParquet = errors.New("must be rewrite, jsonl, tsv, csv, urls or keys: parquet is not possible in a configuration, because outputs grow and are " +
	"truncated to the last checkpoint after a crash, and the index of a Parquet file is at its end; " +
	"write jsonl and convert finished outputs, or run 'urlfold -o FILE.parquet'")

// errArrow is the error for Arrow, whose streams have a mark at their end: see
// errParquet.
var errArrow = errors.New("must be rewrite, jsonl, tsv, csv, urls or keys: arrow is possible only in a one-shot run; write jsonl and convert finished outputs")

// UnmarshalText sets r to the built-in form called text.
func (r *Render) UnmarshalText(text []byte) error {
	switch string(text) {
	case "parquet":
		return errParquet
	case "arrow":
		return errArrow
	}
	*r = Render{Form: string(text)}
	return nil
}

// MarshalText returns the name of the built-in form, or nil if r is a mapping.
func (r Render) MarshalText() ([]byte, error) {
	if r.JSONL != nil || r.TSV != nil || r.CSV != nil || r.Extend != nil {
		return nil, nil
	}
	return []byte(r.Form), nil
}

// Validate checks that exactly one form is selected, and sets r.Form to it.
func (r *Render) Validate() error {
	var forms []string
	for _, f := range []struct {
		name string
		is   bool
	}{{"jsonl", r.JSONL != nil}, {"tsv", r.TSV != nil}, {"csv", r.CSV != nil}, {"extend", r.Extend != nil}} {
		if f.is {
			forms = append(forms, f.name)
		}
	}
	if len(forms) != 1 {
		return errors.New("must be rewrite, jsonl, tsv, csv, urls or keys, or a mapping with exactly one of jsonl, tsv, csv and extend")
	}
	r.Form = forms[0]
	return nil
}

// Rules are changes to a built-in profile. Not covered by the stability page.
type Rules struct {
	RuleChanges
	Policy
}

// RuleChanges are normalization rules that a profile adds to a built-in profile
// or removes from it. Not covered by the stability page.
type RuleChanges struct {
	// Normalization rules to add.
	Add []string `yaml:"add"`
	// Normalization rules to remove.
	Remove []string `yaml:"remove"`
}

// resolve compiles the section and records the errors in it.
func (d *decoder) resolve(c *Codec) {
	d.resolveReject(c)
	d.resolveRender(&c.Render)
	file := false
	if c.profile, c.policy, file = d.resolveProfile(c.Profile, "codec.profile"); file && !c.Rules.isZero() {
		d.failText("codec.rules", "cannot be combined with a profile file: move these rules into the profile")
	}
	c.styles = d.resolveParams(c.Params, "codec.params")
	// Apply the changes to the profile, and let the codec check the result for
	// contradictions.
	p := &c.profile
	add, remove := d.ruleSets(&c.Rules.RuleChanges, "codec.rules")
	if !c.Rules.isZero() {
		c.policy = d.compilePolicy(&c.Rules.Policy, "codec.rules")
	}
	if slices.ContainsFunc([]string{"profile", "rules", "key", "max_url"}, func(key string) bool { return d.broken[in("codec", key)] }) {
		return
	}
	d.checkRuleChanges(*p, add.Union(remove), "codec.rules")
	*p = p.Change(add, remove)
	if c.MaxURL > 0 {
		p.MaxLen = int(c.MaxURL)
	}
	d.checkProfile(*p, c.policy, "codec.rules")
}

func (d *decoder) failText(path string, reason string) { d.failPath(path, errors.New(reason)) }

// resolveProfile returns the profile that the key at path names, with its
// policy, and whether the profile is a file. It records the errors.
func (d *decoder) resolveProfile(profile, path string) (p codec.Profile, policy *codec.Policy, file bool) {
	if !IsProfileFile(profile) {
		return d.builtIn(profile, path), codec.DefaultPolicy(), false
	}
	switch {
	case strings.Contains(profile, "://"):
		d.failText(path, "must be a file, not a URL: urlfold does not download profiles")
		return p, nil, false
	case d.open == nil:
		d.failText(path, "cannot read files in this context")
		return p, nil, false
	}
	data, err := d.open(profile)
	if err != nil {
		d.failPath(path, &hiddenError{fileReason(err), err})
		return p, nil, false
	}
	name := profile
	if raw, ok := d.raw[path]; ok {
		name = raw
	}
	beside := func(name string) ([]byte, error) {
		return d.open(below(filepath.Dir(profile), name))
	}
	if p, policy, err = ParseProfile(name, data, beside); err != nil {
		d.others = append(d.others, errlist.Flatten(err)...)
		d.spoil(path)
	}
	return p, policy, true
}

// A hiddenError replaces the text of err by reason.
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
	r.names = d.written("codec.to.extend", sortedKeys(r.Extend))
}

func isErrorName(name string) bool {
	var e codec.Error
	return e.UnmarshalText([]byte(name)) == nil && e != 0
}

// Resolve returns the profile with the changes of this section, and the policy
// for its keys.
func (c *Codec) Resolve() (codec.Profile, *codec.Policy) { return c.profile, c.policy }

// Styles returns the compiled Params, or nil if there are none.
func (c *Codec) Styles() *params.Styles { return c.styles }

// Rejected returns which valid URLs to reject.
func (c *Codec) Rejected() Rejected { return c.reject }
