package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/template"
	"github.com/urlfold/urlfold/internal/errlist"
)

// A policyReader reads the policy of a profile.
type policyReader struct {
	*profileReader
	policy *codec.Policy
	lists  []*params.List      // of files and the built-in one
	own    params.List         // drop_params
	site   params.List         // site_params and keep_params
	nodes  map[string]ast.Node // where each rule of own and site is, by its Source
}

func (r *profileReader) readPolicy(n ast.Node) *codec.Policy {
	p := r.newPolicyReader()
	p.mapping(n, p.fields()...)
	p.compileParams(n)
	return p.policy
}

func (r *profileReader) newPolicyReader() *policyReader {
	return &policyReader{
		profileReader: r,
		policy:        &codec.Policy{},
		lists:         []*params.List{params.Default()},
		nodes:         map[string]ast.Node{},
	}
}

// fields returns the keys of a policy.
func (p *policyReader) fields() []keyReader {
	return []keyReader{
		{"lists", p.readLists},
		{"drop_params", func(n ast.Node) { p.readParams(n, &p.own) }},
		{"site_params", func(n ast.Node) { p.readParams(n, &p.site) }},
		{"keep_params", p.readAllow},
		{"path_templates", p.readTemplates},
		{"spa", p.readSPA},
		{"keep_https", func(n ast.Node) { p.policy.KeepHTTPS = p.bool(n) }},
		{"lower_path", func(n ast.Node) { p.policy.LowerPath = p.bool(n) }},
		{"lower_query", func(n ast.Node) { p.policy.LowerQuery = p.bool(n) }},
		{"nfc", func(n ast.Node) { p.policy.NFC = p.bool(n) }},
		{"once", func(n ast.Node) { p.policy.Once = p.bool(n) }},
	}
}

func (p *policyReader) readLists(n ast.Node) {
	p.lists = nil
	seen := map[string]bool{}
	for _, item := range p.items(n) {
		l := p.readList(item)
		if l == nil {
			continue
		}
		if seen[l.Name] {
			p.failAt(item, "another list has the same name; name tells them apart")
			continue
		}
		seen[l.Name] = true
		if _, err := params.Compile(l); err != nil {
			p.failList(item, err)
			continue
		}
		p.lists = append(p.lists, l)
	}
}

// readList reads an element of lists, nil if there is a mistake in it.
func (p *policyReader) readList(n ast.Node) *params.List {
	if _, ok := n.(*ast.StringNode); ok {
		name, ok := p.text(n)
		switch {
		case !ok:
			return nil
		case name != "default":
			p.failAt(n, "there is no such list; there are default, {clearurls: FILE} and {plain: FILE}")
			return nil
		}
		return params.Default()
	}
	var imported, plain, name, version ast.Node
	before := len(p.errs)
	note := func(to *ast.Node) func(ast.Node) { return func(n ast.Node) { *to = n } }
	p.mapping(n, keyReader{"clearurls", note(&imported)}, keyReader{"plain", note(&plain)}, keyReader{"name", note(&name)}, keyReader{"version", note(&version)})
	if len(p.errs) > before {
		return nil
	}
	if (imported == nil) == (plain == nil) {
		p.failAt(n, "a list is default, or has one of clearurls and plain")
		return nil
	}
	at := imported
	if plain != nil {
		at = plain
	}
	data, title := p.readListFile(at)
	if imported != nil {
		title = ""
	}
	if name != nil {
		title = p.label(name)
	}
	edition := ""
	if version != nil {
		edition = p.label(version)
	}
	if len(p.errs) > before {
		return nil
	}
	return p.parseList(at, plain != nil, data, title, edition)
}

// parseList reads the list that the file at this node holds.
func (p *policyReader) parseList(at ast.Node, plain bool, data []byte, name, version string) (l *params.List) {
	var err error
	switch {
	case plain && !isName(name):
		p.failAt(at, "the list needs a name: "+nameRule)
		return nil
	case plain:
		l, err = params.ParsePlain(name, version, data)
	default:
		l, err = params.ParseClearURLs(data)
	}
	if err != nil {
		p.failList(at, err)
		return nil
	}
	if name != "" {
		l.Name = name
	}
	if version != "" {
		l.Version = version
	}
	return l
}

// readListFile reads the file that a node names, and returns its name without
// folder and extension too.
func (p *policyReader) readListFile(n ast.Node) (data []byte, title string) {
	name, ok := p.text(n)
	switch {
	case !ok:
	case name == "":
		p.failAt(n, "must be the name of a file")
	case strings.Contains(name, "://"):
		p.failAt(n, "this is a URL, and not a file: nothing is fetched")
	case p.open == nil:
		p.failAt(n, "no files can be read here")
	default:
		data, err := p.open(name)
		if err == nil && len(data) > maxList {
			err = errors.New("it is longer than 64 MiB")
		}
		if err != nil {
			p.failWith(start(n), fileReason(err), err)
		}
		base := filepath.Base(name)
		return data, strings.TrimSuffix(base, filepath.Ext(base))
	}
	return nil, ""
}

// label reads the name or the version of a list.
func (p *policyReader) label(n ast.Node) string {
	text, ok := p.text(n)
	if ok && !isName(text) {
		p.failAt(n, nameRule)
	}
	return text
}

// failList notes the mistakes in a list that a file holds.
func (p *policyReader) failList(n ast.Node, err error) {
	for _, e := range errlist.Flatten(err) {
		p.failWith(start(n), "in the list: "+clean(e.Error()), e)
	}
}

// readParams reads rules as they stand in a plain list.
func (p *policyReader) readParams(n ast.Node, to *params.List) {
	p.texts(n, func(n ast.Node, text string) {
		rule, err := params.ParseRule(text, p.place(n))
		if err != nil {
			p.failRule(n, err)
			return
		}
		p.nodes[rule.Source] = n
		to.Rules = append(to.Rules, rule)
	})
}

// readAllow reads what is kept in each scope.
func (p *policyReader) readAllow(n ast.Node) {
	p.pairs(n, func(key, value ast.Node, scope string) {
		if scope == "" {
			p.failAt(key, "a scope is HOST, HOST/PATH or /PATH")
			return
		}
		var names []string
		p.texts(value, func(n ast.Node, name string) {
			if _, err := params.Allow(scope, []string{name}, p.place(n)); err != nil {
				p.failRule(n, err)
				return
			}
			names = append(names, name)
		})
		rules, err := params.Allow(scope, names, p.place(key))
		if err != nil {
			p.failRule(key, err)
			return
		}
		p.nodes[p.place(key)] = key
		p.site.Rules = append(p.site.Rules, rules...)
	})
}

// failRule notes a mistake in a rule, without the place in its text: the node
// has it.
func (p *policyReader) failRule(n ast.Node, err error) {
	reason := err.Error()
	var e *params.RuleError
	if errors.As(err, &e) {
		reason = e.Reason
	}
	p.failWith(start(n), clean(reason), err)
}

func (p *policyReader) readTemplates(n ast.Node) {
	var texts []string
	var nodes []ast.Node
	p.texts(n, func(n ast.Node, text string) { texts, nodes = append(texts, text), append(nodes, n) })
	templates, err := template.Compile(texts)
	if err == nil {
		p.policy.Templates = templates
		return
	}
	for _, err := range errlist.Flatten(err) {
		var e *template.Error
		if !errors.As(err, &e) {
			p.failWith(start(n), clean(err.Error()), err)
			continue
		}
		p.failWith(start(nodes[e.Index]), fmt.Sprintf("byte %d of the template: %s", e.At, clean(e.Reason)), err)
	}
}

func (p *policyReader) readSPA(n ast.Node) {
	p.texts(n, func(n ast.Node, host string) {
		if host != "*" && !isHost(host) {
			p.failAt(n, "must be \"*\", or a host as URLs have it after parsing: in lower case and ASCII, without scheme, port and path")
		}
		p.policy.SPA = append(p.policy.SPA, host)
	})
}

// isHost reports whether s can be the host of a normal form.
func isHost(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !isName(label) || label != strings.ToLower(label) {
			return false
		}
	}
	return true
}

// compileParams makes the matchers of all rules. The user's own come first, so
// that they are named as the cause.
func (p *policyReader) compileParams(n ast.Node) {
	lists := p.lists
	if own := p.finish(&p.own); own != nil {
		lists = append([]*params.List{own}, lists...)
	}
	p.policy.Params = p.compile(n, lists...)
	if site := p.finish(&p.site); site != nil {
		p.policy.SiteParams = p.compile(n, site)
	}
}

// finish gives the rules of the profile itself a name and a version, which is
// made of what they say. It returns nil if there are none.
func (p *policyReader) finish(l *params.List) *params.List {
	if len(l.Rules) == 0 {
		return nil
	}
	h := sha256.New()
	for _, r := range l.Rules {
		_, _ = fmt.Fprintf(h, "%v %q %q %v %q %v\n", r.Action, r.Host, r.Path, r.Match, r.Name, r.Value) // never fails
	}
	l.Name, l.Version = "profile", hex.EncodeToString(h.Sum(nil)[:8])
	return l
}

// compile makes a matcher, or tells at the nodes of the rules what is wrong.
func (p *policyReader) compile(n ast.Node, lists ...*params.List) *params.Matcher {
	m, err := params.Compile(lists...)
	if err == nil {
		return m
	}
	for _, err := range errlist.Flatten(err) {
		var e *params.RuleError
		if errors.As(err, &e) && p.nodes[e.Source] != nil {
			p.failRule(p.nodes[e.Source], e)
			continue
		}
		p.failWith(start(n), clean(err.Error()), err)
	}
	return nil
}
