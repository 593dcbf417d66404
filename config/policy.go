package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/template"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/ground/errlist"
)

// A Policy holds the settings on which keys of the levels fetch and page depend.
// Not covered by the stability page.
type Policy struct {
	// The lists of parameters that level fetch drops: default for the built-in list, or a
	// file. Default: [default].
	Lists []List `yaml:"lists"`
	// Additional parameters that level fetch drops, in the syntax of a line of a plain
	// list: gclid, utm_*, /ga_[a-z]+/, "sid ~alnum16", "example.com/path/**: ref",
	// "!keep".
	DropParams []string `yaml:"drop_params"`
	// Additional parameters that level page drops, in the same syntax.
	SiteParams []string `yaml:"site_params"`
	// The only parameters that level page keeps, for each HOST, HOST/PATH or /PATH. Page is
	// derived from fetch, so it cannot keep parameters that fetch drops.
	KeepParams map[string][]string `yaml:"keep_params"`
	// Path templates for the output field template, such as /order/{uuid}. They
	// take precedence over the built-in ones. The placeholders {int}, {uuid},
	// {hex}, {date} and {token} match segments of that form; any other name
	// matches any segment.
	PathTemplates []string `yaml:"path_templates"`
	// Hosts, including their subdomains, whose fragments #/... and #!... identify
	// pages; "*" means every host.
	SPA []string `yaml:"spa"`
	// Whether the levels fetch and page distinguish http from https.
	KeepHTTPS bool `yaml:"keep_https"`
	// Whether level page ignores case in paths.
	LowerPath bool `yaml:"lower_path"`
	// Whether level page ignores case in queries.
	LowerQuery bool `yaml:"lower_query"`
	// Whether level page converts paths and queries to Unicode Normalization Form C (rule
	// nfc).
	NFC bool `yaml:"nfc"`
	// Whether level page removes repeated parameters with equal values (rule q-once).
	Once bool `yaml:"once"`
}

// isZero reports whether all settings of p have their zero values.
func (p *Policy) isZero() bool { return reflect.ValueOf(*p).IsZero() }

// A List is the built-in list, written as default, or a file with parameter
// rules. Not covered by the stability page.
type List struct {
	// A rules file of the ClearURLs project.
	ClearURLs string `yaml:"clearurls" min:"1"`
	// A filter list of AdGuard or uBlock Origin; its rules with the modifier
	// removeparam count.
	AdGuard string `yaml:"adguard" min:"1"`
	// clean-urls.json or query-filter.json of the browser Brave.
	Brave string `yaml:"brave" min:"1"`
	// The list query-stripping, or StripOnShare.json, of the browser Firefox.
	Firefox string `yaml:"firefox" min:"1"`
	// The robots.txt of the host in host; its Clean-param directives count.
	Robots string `yaml:"robots" min:"1"`
	// The host of the robots.txt.
	Host string `yaml:"host" min:"1"`
	// A file with one rule per line.
	Plain string `yaml:"plain" min:"1"`
	// The name of the list in versions and explanations. Default: for plain, the
	// file name without extension; otherwise the kind.
	Name string `yaml:"name" min:"1"`
	// The version of the list. Default: a hash of its content.
	Version string `yaml:"version" min:"1"`

	isDefault bool
}

// UnmarshalText accepts the name of the built-in list.
func (l *List) UnmarshalText(text []byte) error {
	if string(text) != defaultList {
		return errors.New("unknown list (must be default, or {KIND: FILE} with the kind adguard, brave, clearurls, firefox, plain or robots)")
	}
	l.isDefault = true
	return nil
}

// MarshalText returns the name of the built-in list, or nil for a file.
func (l List) MarshalText() ([]byte, error) {
	if l.isDefault {
		return []byte(defaultList), nil
	}
	return nil, nil
}

// files returns the keys of l that name a file, by the kind of the list.
func (l *List) files() map[string]*string {
	return map[string]*string{"adguard": &l.AdGuard, "brave": &l.Brave, "clearurls": &l.ClearURLs, "firefox": &l.Firefox, "plain": &l.Plain, "robots": &l.Robots}
}

// source returns the kind of the list, as the key of the file, and the file. ok
// is false unless there is exactly one file.
func (l *List) source() (kind, file string, ok bool) {
	for k, f := range l.files() {
		switch {
		case *f == "":
		case ok:
			return "", "", false
		default:
			kind, file, ok = k, *f, true
		}
	}
	return kind, file, ok
}

// Validate checks that the list has exactly one file, and a valid name and
// version.
func (l *List) Validate() error {
	kind, _, ok := l.source()
	if !ok {
		return errors.New("must be default, or a mapping with the file of one of adguard, brave, clearurls, firefox, plain or robots")
	}
	var errs field.Errors
	if (kind == "robots") != (l.Host != "") {
		errs.Wrong("host", "must be set with the kind robots, and only with it")
	} else if l.Host != "" && !isHost(l.Host) {
		errs.Wrong("host", "must be a host in its normal form: lower case, ASCII, without scheme, port and path")
	}
	for _, f := range []struct{ key, value string }{{"name", l.Name}, {"version", l.Version}} {
		if f.value != "" && !isName(f.value) {
			errs.Wrong(f.key, nameRule)
		}
	}
	return errors.Join(errs...)
}

const defaultList = "default"

// ownList is the name of the list of a profile's own rules.
const ownList = "profile"

// WithList returns a copy of policy in which a list takes the place of its
// lists of parameters. The rules of a profile itself, such as drop_params,
// stay. text is "default", or KIND:FILE, where KIND is a key of [List]; for
// robots it is robots:HOST:FILE. Not covered by the stability page.
func WithList(policy *codec.Policy, text string) (*codec.Policy, error) {
	l, err := loadList(text)
	if err != nil {
		return nil, err
	}
	var lists []*params.List
	for _, own := range policy.Params.Lists() {
		if own.Name == ownList {
			lists = append(lists, own)
		}
	}
	changed := *policy
	changed.Params, err = params.Compile(append(lists, l)...)
	return &changed, err
}

// loadList reads a list that an option names.
func loadList(text string) (*params.List, error) {
	if text == defaultList {
		return params.Default(), nil
	}
	kind, file, ok := strings.Cut(text, ":")
	written := List{}
	if kind == "robots" {
		written.Host, file, ok = strings.Cut(file, ":")
	}
	to := written.files()[kind]
	if !ok || to == nil || file == "" {
		return nil, errors.New("must be default or KIND:FILE with the kind adguard, brave, clearurls, firefox or plain, or robots:HOST:FILE")
	}
	*to = file
	if err := written.Validate(); err != nil {
		return nil, err
	}
	data, err := readFile(file, maxList)
	if err == nil && len(data) > maxList {
		err = errors.New("larger than 8 MiB")
	}
	if err != nil {
		return nil, errors.New(fileReason(err))
	}
	return written.parse(kind, data)
}

// A policyCompiler compiles the policy at a path to a codec.Policy.
type policyCompiler struct {
	*decoder
	at     string
	policy *codec.Policy
	own    params.List         // drop_params
	site   params.List         // site_params and keep_params
	nodes  map[string]ast.Node // node of each rule of own and site, by the rule's Source
}

// compilePolicy compiles p, the policy at a path. It omits settings with
// errors.
func (d *decoder) compilePolicy(p *Policy, at string) *codec.Policy {
	c := &policyCompiler{decoder: d, at: at, nodes: map[string]ast.Node{}}
	c.policy = &codec.Policy{KeepHTTPS: p.KeepHTTPS, LowerPath: p.LowerPath, LowerQuery: p.LowerQuery, NFC: p.NFC, Once: p.Once}
	lists := c.lists(p.Lists)
	c.rules(p.DropParams, "drop_params", &c.own)
	c.rules(p.SiteParams, "site_params", &c.site)
	c.keep(p.KeepParams)
	c.templates(p.PathTemplates)
	for i, host := range p.SPA {
		at := element(in(c.at, "spa"), i)
		if !c.broken[at] && host != "*" && !isHost(host) {
			c.failText(at, `must be "*", or a host in its normal form: lower case, ASCII, without scheme, port and path`)
		}
	}
	c.policy.SPA = p.SPA
	// The user's own rules come first, so that explanations name them
	// rather than a list.
	if own := finish(&c.own); own != nil {
		lists = slices.Insert(lists, 0, own)
	}
	c.policy.Params = c.matcher(lists...)
	if site := finish(&c.site); site != nil {
		c.policy.SiteParams = c.matcher(site)
	}
	return c.policy
}

// lists reads the parameter lists. The default is the built-in one.
func (c *policyCompiler) lists(written []List) []*params.List {
	if written == nil {
		return []*params.List{params.Default()}
	}
	var lists []*params.List
	seen := map[string]bool{}
	for i := range written {
		at := element(in(c.at, "lists"), i)
		l := c.list(&written[i], at)
		if l == nil {
			continue
		}
		if seen[l.Name] {
			c.failText(at, "duplicate list name: set name to give the list a different one")
			continue
		}
		seen[l.Name] = true
		if _, err := params.Compile(l); err != nil {
			c.failList(at, err)
			continue
		}
		lists = append(lists, l)
	}
	return lists
}

// list reads the list at a path. It returns nil if the list has errors.
func (c *policyCompiler) list(l *List, at string) *params.List {
	switch {
	case c.broken[at]:
		return nil
	case l.isDefault:
		return params.Default()
	}
	kind, file, _ := l.source()
	path := in(at, kind)
	data := c.readList(file, path)
	if c.broken[at] {
		return nil
	}
	return c.parseList(l, kind, path, data)
}

// parseList parses data, the contents of the file that the key at names, as a
// list of the given kind. It returns nil after recording an error.
func (c *policyCompiler) parseList(written *List, kind, at string, data []byte) *params.List {
	l, err := written.parse(kind, data)
	switch {
	case errors.Is(err, errListName):
		c.failText(at, err.Error())
		return nil
	case err != nil:
		c.failList(at, err)
		return nil
	}
	return l
}

var errListName = errors.New("cannot derive the list name from the file name: set name (" + nameRule + ")")

// parse parses data, the contents of the file of the list.
func (l *List) parse(kind string, data []byte) (list *params.List, err error) {
	switch kind {
	case "adguard":
		list = params.ParseAdGuard(data)
	case "brave":
		list, err = params.ParseBrave(data)
	case "clearurls":
		list, err = params.ParseClearURLs(data)
	case "firefox":
		list, err = params.ParseFirefox(data)
	case "robots":
		list = params.ParseRobots(l.Host, data)
	default:
		base := filepath.Base(l.Plain)
		name := cmp.Or(l.Name, strings.TrimSuffix(base, filepath.Ext(base)))
		if !isName(name) {
			return nil, errListName
		}
		list, err = params.ParsePlain(name, l.Version, data)
	}
	if err != nil {
		return nil, err
	}
	list.Name, list.Version = cmp.Or(l.Name, list.Name), cmp.Or(l.Version, list.Version)
	return list, nil
}

// readList reads the file that is named at a path.
func (c *policyCompiler) readList(name, at string) []byte {
	switch {
	case strings.Contains(name, "://"):
		c.failText(at, "must be a file, not a URL: urlfold does not download lists")
		return nil
	case c.open == nil:
		c.failText(at, "cannot read files in this context")
		return nil
	}
	data, err := c.open(name)
	if err == nil && len(data) > maxList {
		err = errors.New("larger than 8 MiB")
	}
	if err != nil {
		c.failPath(at, &hiddenError{fileReason(err), err})
	}
	return data
}

// failList records the errors in a list file.
func (c *policyCompiler) failList(at string, err error) {
	for _, e := range errlist.Flatten(err) {
		c.failPath(at, &hiddenError{"invalid list: " + clean(e.Error()), e})
	}
}

// rules parses rules in the syntax of a plain list.
func (c *policyCompiler) rules(texts []string, key string, to *params.List) {
	for i, text := range texts {
		at := element(in(c.at, key), i)
		if c.broken[at] {
			continue
		}
		n := c.places[at].value
		source := c.source(n)
		rule, err := params.ParseListRule(text, source)
		if err != nil {
			c.failNode(n, err)
			continue
		}
		c.nodes[source] = n
		to.Rules = append(to.Rules, rule)
	}
}

// keep parses the parameters to keep in each scope.
func (c *policyCompiler) keep(scopes map[string][]string) {
	at := in(c.at, "keep_params")
	for _, scope := range c.written(at, sortedKeys(scopes)) {
		at := in(at, scope)
		key := c.places[at].key
		if scope == "" {
			c.failNode(key, errors.New("must be HOST, HOST/PATH or /PATH"))
			continue
		}
		source := c.source(key)
		var names []string
		for i, name := range scopes[scope] {
			at := element(at, i)
			if c.broken[at] {
				continue
			}
			if _, err := params.Allow(scope, []string{name}, source); err != nil {
				c.failNode(c.places[at].value, err)
				continue
			}
			names = append(names, name)
		}
		rules, err := params.Allow(scope, names, source)
		if err != nil {
			c.failNode(key, err)
			continue
		}
		c.nodes[source] = key
		c.site.Rules = append(c.site.Rules, rules...)
	}
}

// failNode records an error in a rule at the position of its node, without the
// position inside the text of the rule.
func (c *policyCompiler) failNode(n ast.Node, err error) {
	reason := err.Error()
	if e, ok := errors.AsType[*params.RuleError](err); ok {
		reason = e.Reason
	}
	c.spoil(c.at)
	c.failWith(start(n), clean(reason), err)
}

func (c *policyCompiler) templates(texts []string) {
	at := in(c.at, "path_templates")
	if len(texts) == 0 || c.broken[at] {
		return
	}
	templates, err := template.Compile(texts)
	if err == nil {
		c.policy.Templates = templates
		return
	}
	for _, err := range errlist.Flatten(err) {
		e, ok := errors.AsType[*template.Error](err)
		if !ok {
			c.failPath(at, err)
			continue
		}
		c.failText(element(at, e.Index), fmt.Sprintf("byte %d of the template: %s", e.At, clean(e.Reason)))
	}
}

// isHost reports whether s has the form of a host in a normal form.
func isHost(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !isName(label) || label != strings.ToLower(label) {
			return false
		}
	}
	return true
}

// finish names the list of the profile's own rules and sets its version to a
// hash of the rules. It returns nil if there are none.
func finish(l *params.List) *params.List {
	if len(l.Rules) == 0 {
		return nil
	}
	h := sha256.New()
	for _, r := range l.Rules {
		_, _ = fmt.Fprintln(h, r) // never fails
	}
	l.Name, l.Version = ownList, hex.EncodeToString(h.Sum(nil)[:8])
	return l
}

// matcher compiles a matcher. It records errors at the positions of the rules.
func (c *policyCompiler) matcher(lists ...*params.List) *params.Matcher {
	m, err := params.Compile(lists...)
	for _, err := range errlist.Flatten(err) {
		if e, ok := errors.AsType[*params.RuleError](err); ok && c.nodes[e.Source] != nil {
			c.failNode(c.nodes[e.Source], e)
			continue
		}
		c.failPath(c.at, &hiddenError{clean(err.Error()), err})
	}
	return m
}
