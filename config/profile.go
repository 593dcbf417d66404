package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
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
	r := &profileReader{document: document{file: file}, open: open}
	r.read(data)
	if len(r.errs) > 0 {
		return codec.Profile{}, nil, joined(r.errs)
	}
	return r.profile, r.policy, nil
}

// A profileReader reads one profile.
type profileReader struct {
	document
	open    func(name string) ([]byte, error)
	profile codec.Profile
	policy  *codec.Policy

	// The nodes at which a contradiction is told, nil if they are not there.
	root, name, base, rules ast.Node

	title       string
	level       codec.Level
	hasLevel    bool
	maxURL      int
	add, remove codec.Rules
	styles      *params.Styles
}

func (r *profileReader) read(data []byte) {
	if r.root = r.parse(data); r.root == nil {
		if len(r.errs) == 0 {
			r.errs = append(r.errs, &Error{File: r.file, Reason: "is empty"})
		}
		return
	}
	policy := codec.DefaultPolicy()
	r.mapping(r.root,
		keyReader{"name", r.readName},
		keyReader{"base", r.readBase},
		keyReader{"rules", r.readRules},
		keyReader{"key", r.readKey},
		keyReader{"max_url", r.readMaxURL},
		keyReader{"policy", func(n ast.Node) { policy = r.readPolicy(n) }},
		keyReader{"params", r.readParams},
	)
	r.policy = policy
	policy.Styles = r.styles
	for _, f := range []struct {
		name string
		node ast.Node
	}{{"name", r.name}, {"base", r.base}} {
		if f.node == nil && r.isMapping() {
			r.failAt(r.root, "the key "+f.name+" is missing")
		}
	}
	if len(r.errs) == 0 {
		r.build()
	}
}

func (r *profileReader) isMapping() bool {
	switch r.root.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

func (r *profileReader) readName(n ast.Node) {
	r.name = n
	text, ok := r.text(n)
	if !ok {
		return
	}
	if _, known := codec.Lookup(text); known {
		r.failAt(n, "is the name of a built-in profile")
	}
	if !isName(text) {
		r.failAt(n, nameRule)
	}
	r.title = text
}

func (r *profileReader) readBase(n ast.Node) {
	r.base = n
	text, ok := r.text(n)
	if !ok {
		return
	}
	if r.profile, ok = codec.Lookup(text); ok {
		return
	}
	var names []string
	for _, p := range codec.Profiles() {
		names = append(names, p.Name)
	}
	r.failAt(n, noSuch("built-in profile", names, text))
}

func (r *profileReader) readRules(n ast.Node) {
	r.rules = n
	r.mapping(n,
		keyReader{"add", func(n ast.Node) { r.add = r.ruleSet(n, r.remove) }},
		keyReader{"remove", func(n ast.Node) { r.remove = r.ruleSet(n, r.add) }},
	)
}

// ruleSet reads names of rules, none of which is in other.
func (r *profileReader) ruleSet(n ast.Node, other codec.Rules) (set codec.Rules) {
	r.texts(n, func(n ast.Node, text string) {
		rule, err := codec.ParseRule(text)
		switch {
		case err != nil || !codec.ProfileRules().Has(rule):
			r.failAt(n, noSuch("rule", codec.ProfileRules().Names(), text))
			return
		case other.Has(rule):
			r.failAt(n, "this rule is added and removed")
		}
		set |= codec.RulesOf(rule)
	})
	return set
}

func (r *profileReader) readKey(n ast.Node) {
	text, ok := r.text(n)
	if !ok {
		return
	}
	var err error
	if r.level, err = codec.ParseLevel(text); err == nil {
		r.hasLevel = true
		return
	}
	var names []string
	for lv := range codec.K3 + 1 {
		names = append(names, lv.String())
	}
	r.failAt(n, noSuch("key level", names, text))
}

func (r *profileReader) readMaxURL(n ast.Node) {
	text, ok := r.text(n)
	if !ok {
		return
	}
	size, err := field.ParseSize(text)
	switch {
	case err != nil:
		r.failAt(n, err.Error())
	case size < 1 || size > codec.MaxLen:
		r.failAt(n, "must be from 1 to 1GiB")
	}
	r.maxURL = int(min(size, codec.MaxLen))
}

// build puts the profile together, and has the codec look for contradictions.
func (r *profileReader) build() {
	p := &r.profile
	p.Name, p.Rules = r.title, p.Rules&^r.remove|r.add
	if r.hasLevel {
		p.Key = r.level
	}
	if r.maxURL > 0 {
		p.MaxLen = r.maxURL
	}
	_, err := codec.New(*p, codec.WithPolicy(r.policy))
	var refused *codec.ProfileError
	switch {
	case err == nil:
	case errors.As(err, &refused):
		at := r.rules
		if at == nil {
			at = r.root
		}
		for reason := range strings.SplitSeq(refused.Reason, "; ") {
			r.failWith(start(at), fmt.Sprintf("the profile %s", reason), err)
		}
	default:
		r.failWith(start(r.root), clean(err.Error()), err)
	}
}
