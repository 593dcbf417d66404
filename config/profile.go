package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/field"
)

// LoadProfile reads a user's profile from a file. Files that it names are looked
// for in its folder, and may be up to 64 MiB long. See ParseProfile.
func LoadProfile(path string) (codec.Profile, *codec.Policy, error) {
	data, err := readFile(path, MaxFile)
	if err != nil {
		return codec.Profile{}, nil, &Error{File: path, Reason: fileReason(err), err: err}
	}
	open := func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return readFile(name, maxList)
	}
	return ParseProfile(path, data, open)
}

// maxList is the longest parameter list, in bytes.
const maxList = 64 << 20

// readFile reads a file of up to limit bytes, and one byte of a longer one.
func readFile(name string, limit int64) (data []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	return data, errors.Join(err, f.Close())
}

// ParseProfile reads a user's profile: a built-in one as base, rules added or
// removed, and the policy for the keys of levels K2 and K3.
//
//	name: shop                    # required; goes into output, so of a-z, 0-9, '-', '_', '.'
//	base: crawler                 # required: the name of a built-in profile
//	rules:
//	  add: [rfc-clean]            # names of codec.Rules
//	  remove: [ui-drop]
//	key: k2                       # default: as the base
//	max_url: 64KiB                # the longest URL accepted
//	policy:
//	  lists:                      # of parameters that K2 leaves out; default: [default]
//	    - default                 # params.Default
//	    - clearurls: data.min.json
//	      version: "2026-11"      # default: the start of the SHA-256 of the file
//	    - plain: ours.txt         # a rule a line, see params.ParsePlain
//	      name: ours              # default: the file's name without extension
//	  drop_params: [utm_*, gclid] # more of them; each a rule as in a plain list
//	  site_params: ["a.example: ref"] # parameters that K3 leaves out
//	  keep_params:                # all that K3 keeps there; see params.Allow
//	    "shop.example.com/**": [sku, page]
//	  path_templates: ["/order/{uuid}"] # see codec/template
//	  spa: [app.example.com]      # see codec.Policy.SPA
//	  keep_https: true            # the same for KeepHTTPS,
//	  lower_path: true            # LowerPath
//	  lower_query: true           # LowerQuery,
//	  nfc: true                   # NFC
//	  once: true                  # and Once
//	params:                       # how parameters are written; see Param
//	  - {name: color, in: query, style: pipeDelimited}
//
// file is how errors and the sources of rules name the file. open reads a file
// that the profile names; if it is nil, there is none. The error joins an *Error
// for each mistake, contradictions among them; then there is no profile.
func ParseProfile(file string, data []byte, open func(name string) ([]byte, error)) (codec.Profile, *codec.Policy, error) {
	d := newDecoder(document{file: file}, open)
	var p codec.Profile
	var policy *codec.Policy
	if root := d.root(data); root != nil {
		var f profileFile
		d.structure(reflect.ValueOf(&f).Elem(), root, "")
		if isMapping(root) {
			p, policy = d.profile(&f)
		}
	}
	if len(d.errs) > 0 {
		return codec.Profile{}, nil, joined(d.errs)
	}
	return p, policy, nil
}

// A profileFile is a profile as it is written. Its comments become the table of
// keys in docs/reference/profiles.md.
type profileFile struct {
	// The name, as it appears in output; not that of a built-in profile.
	Name string `yaml:"name,required"`
	// The built-in profile that it begins with.
	Base string `yaml:"base,required"`
	// The rules added and removed, by their names. What contradicts the standard is refused.
	Rules RuleChanges `yaml:"rules"`
	// The level of its keys. Default: that of the base.
	Key string `yaml:"key" enum:"k0,k1,k2,k3"`
	// The longest URL that is accepted. Default: 64KiB.
	MaxURL field.Size `yaml:"max_url" min:"1" max:"1GiB"`
	// What the keys of K2 and K3 depend on. Default: the built-in policy.
	Policy *Policy `yaml:"policy"`
	// How parameters are written, for the output field params, as codec.params in a configuration. No key depends on it.
	Params []Param `yaml:"params"`
}

// profile puts a profile together, and has the codec look for contradictions.
func (d *decoder) profile(f *profileFile) (codec.Profile, *codec.Policy) {
	if !d.broken["name"] {
		d.checkName(f.Name)
	}
	var p codec.Profile
	if !d.broken["base"] {
		p = d.builtIn(f.Base, "base")
	}
	add, remove := d.ruleSets(&f.Rules, "rules")
	policy := codec.DefaultPolicy()
	if f.Policy != nil {
		policy = d.compilePolicy(f.Policy, "policy")
	}
	policy.Styles = d.resolveParams(f.Params, "params")
	p.Name, p.Rules = f.Name, p.Rules&^remove|add
	if lv, err := codec.ParseLevel(f.Key); err == nil {
		p.Key = lv
	}
	if f.MaxURL > 0 {
		p.MaxLen = int(f.MaxURL)
	}
	if len(d.errs) == 0 {
		at := "rules"
		if _, written := d.places[at]; !written {
			at = "base"
		}
		d.checkProfile(p, policy, at)
	}
	return p, policy
}

func (d *decoder) checkName(name string) {
	if _, known := codec.Lookup(name); known {
		d.failText("name", "is the name of a built-in profile")
	}
	if !isName(name) {
		d.failText("name", nameRule)
	}
}

// IsProfileFile reports whether the word for a profile names a file, and not a
// built-in profile.
func IsProfileFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// ProfileNames returns the names of the built-in profiles. The result is the caller's.
func ProfileNames() []string {
	var names []string
	for _, p := range codec.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// builtIn returns the built-in profile that is named at a path.
func (d *decoder) builtIn(name, at string) codec.Profile {
	p, ok := codec.Lookup(name)
	if !ok && !d.broken[at] {
		d.failText(at, noSuch("built-in profile", ProfileNames(), name))
	}
	return p
}

// ruleSets reads the names of the rules that are added and removed by what is
// written at a path. No rule may be in both lists.
func (d *decoder) ruleSets(c *RuleChanges, at string) (added, removed codec.Rules) {
	added = d.ruleSet(c.Add, in(at, "add"), 0)
	removed = d.ruleSet(c.Remove, in(at, "remove"), added)
	return added, removed
}

// ruleSet reads the rule names at a path. A rule that is also in other is an error.
func (d *decoder) ruleSet(names []string, at string, other codec.Rules) (set codec.Rules) {
	for i, name := range names {
		at := element(at, i)
		rule, err := codec.ParseRule(name)
		switch {
		case d.broken[at]:
		case err != nil || !codec.ProfileRules().Has(rule):
			d.failText(at, noSuch("rule", codec.ProfileRules().Names(), name))
		case other.Has(rule):
			d.failText(at, "this rule is added and removed")
		default:
			set |= codec.RulesOf(rule)
		}
	}
	return set
}

// checkProfile has the codec look for contradictions in a profile, and notes them
// at a path.
func (d *decoder) checkProfile(p codec.Profile, policy *codec.Policy, at string) {
	_, err := codec.New(p, codec.WithPolicy(policy))
	refused, ok := errors.AsType[*codec.ProfileError](err)
	switch {
	case ok:
		for reason := range strings.SplitSeq(refused.Reason, "; ") {
			d.failPath(at, &hiddenError{"invalid profile: " + reason, err})
		}
	case err != nil:
		d.failPath(at, err)
	}
}
