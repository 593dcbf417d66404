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

// LoadProfile reads the profile file at path. Names of other files in it are
// relative to its directory; these files may be up to 8 MiB long. See
// ParseProfile.
func LoadProfile(path string) (codec.Profile, *codec.Policy, error) {
	data, err := readFile(path, maxFile)
	if err != nil {
		return codec.Profile{}, nil, &Error{File: path, Reason: fileReason(err), err: err}
	}
	open := func(name string) ([]byte, error) {
		return readFile(below(filepath.Dir(path), name), maxList)
	}
	return ParseProfile(path, data, open)
}

// maxList is the maximum size of a parameter list, in bytes.
const maxList = 8 << 20

// readFile reads up to limit+1 bytes of a file. A longer result means that the
// file exceeds the limit.
func readFile(name string, limit int64) (data []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	return data, errors.Join(err, f.Close())
}

// ParseProfile parses a profile file: a built-in profile as base, rules to add
// or remove, and the policy for the keys of levels fetch and page.
//
//	name: shop                    # required; appears in output: letters, digits, '-', '_', '.'
//	base: crawler                 # required: the name of a built-in profile
//	rules:
//	  add: [rfc-clean]            # names of codec.Rules
//	  remove: [ui-drop]
//	key: fetch                    # default: the base's
//	max_url: 64KiB                # maximum length of a URL
//	policy:
//	  lists:                      # parameters that fetch drops; default: [default]
//	    - default                 # params.Default
//	    - clearurls: data.min.json
//	      version: "2026-11"      # default: the start of the SHA-256 of the file
//	    - plain: ours.txt         # one rule per line, see params.ParsePlain
//	      name: ours              # default: the file name without extension
//	  drop_params: [utm_*, gclid] # additional rules, as in a plain list
//	  site_params: ["a.example: ref"] # parameters that page drops
//	  keep_params:                # the only parameters that page keeps; see params.Allow
//	    "shop.example.com/**": [sku, page]
//	  path_templates: ["/order/{uuid}"] # see codec/template
//	  spa: [app.example.com]      # see codec.Policy.SPA
//	  keep_https: true            # see codec.Policy.KeepHTTPS
//	  lower_path: true            # see codec.Policy.LowerPath
//	  lower_query: true           # see codec.Policy.LowerQuery
//	  nfc: true                   # see codec.Policy.NFC
//	  once: true                  # see codec.Policy.Once
//	params:                       # how parameters are serialized; see Param
//	  - {name: color, in: query, style: pipeDelimited}
//
// file names the file in errors and in the sources of rules. open reads a file
// that the profile names; if it is nil, the profile must not name any. If data
// has errors or the rules contradict each other, ParseProfile returns a zero
// Profile, a nil Policy, and an error that joins an *Error for each.
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

// A profileFile holds the contents of a profile file. The comments of its
// fields become the table of keys in docs/reference/profiles.md.
type profileFile struct {
	// The name of the profile in output. It must differ from the names of the
	// built-in profiles.
	Name string `yaml:"name,required"`
	// The built-in profile to start from.
	Base string `yaml:"base,required"`
	// The rules to add and to remove, by name. Changes that contradict the
	// standard are rejected.
	Rules RuleChanges `yaml:"rules"`
	// The level of keys. Default: the base's.
	Key string `yaml:"key" enum:"syntax,equivalent,fetch,page,match,shape"`
	// The maximum length of a URL. Longer URLs are rejected. Default: 64KiB.
	MaxURL field.Size `yaml:"max_url" min:"1" max:"1GiB"`
	// The settings of keys of the levels fetch and page. Default: the built-in policy.
	Policy *Policy `yaml:"policy"`
	// The serialization of parameters for the output field params, as in
	// codec.params. It does not affect keys.
	Params []Param `yaml:"params"`
}

// profile compiles the profile and lets the codec check it for contradictions.
func (d *decoder) profile(f *profileFile) (codec.Profile, *codec.Policy) {
	if !d.broken["name"] {
		if _, err := codec.Lookup(f.Name); err == nil {
			d.failText("name", "name of a built-in profile: choose a different one")
		}
		if !isName(f.Name) {
			d.failText("name", nameRule)
		}
	}
	var p codec.Profile
	if !d.broken["base"] {
		p = d.builtIn(f.Base, "base")
	}
	add, remove := d.ruleSets(&f.Rules, "rules")
	d.checkRuleChanges(p, add.Union(remove), "rules")
	policy := codec.DefaultPolicy()
	if f.Policy != nil {
		policy = d.compilePolicy(f.Policy, "policy")
	}
	policy.Styles = d.resolveParams(f.Params, "params")
	p.Name, p.Rules = f.Name, p.Rules.Minus(remove).Union(add)
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

// checkRuleChanges reports changes of rules at a path if the profile matches
// another program.
func (d *decoder) checkRuleChanges(p codec.Profile, changes codec.Rules, at string) {
	if p.Match != "" && !changes.IsZero() {
		d.failText(at, "the profile matches "+p.Program()+": its rules cannot be changed")
	}
}

// IsProfileFile reports whether name, the value of a profile setting, names a
// file rather than a built-in profile. Not covered by the stability page.
func IsProfileFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// ProfileNames returns the names of the built-in profiles in a new slice.
func ProfileNames() []string {
	var names []string
	for _, p := range codec.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// builtIn returns the built-in profile called name. at is the path of its key,
// for errors.
func (d *decoder) builtIn(name, at string) codec.Profile {
	p, err := codec.Lookup(name)
	if err != nil && !d.broken[at] {
		d.failText(at, noSuch(unknown("profile", name), ProfileNames(), name))
	}
	return p
}

// ruleSets parses the rules to add and to remove at a path. No rule may be in
// both lists.
func (d *decoder) ruleSets(c *RuleChanges, at string) (added, removed codec.Rules) {
	added = d.ruleSet(c.Add, in(at, "add"), codec.Rules{})
	removed = d.ruleSet(c.Remove, in(at, "remove"), added)
	return added, removed
}

// ruleSet parses the rule names at a path. A rule that is also in other is an
// error.
func (d *decoder) ruleSet(names []string, at string, other codec.Rules) (set codec.Rules) {
	for i, name := range names {
		at := element(at, i)
		rule, err := codec.ParseRule(name)
		switch {
		case d.broken[at]:
		case err != nil || !codec.ProfileRules().Has(rule):
			d.failText(at, noSuch(unknown("rule", name), codec.ProfileRules().Names(), name))
		case other.Has(rule):
			d.failText(at, "rule is both added and removed")
		default:
			set = set.With(rule)
		}
	}
	return set
}

// checkProfile lets the codec check a profile for contradictions, and records
// them at a path.
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
