package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/urlfold/urlfold/internal/suggest"
)

// Limits of a file. The YAML library takes time in the square of both.
const (
	MaxFile  = 64 << 10 // bytes
	maxDepth = 16
)

// A document is a YAML file under inspection, and the mistakes in it.
type document struct {
	file string
	errs []*Error
}

// parse returns the root of the only document in data, nil if there is none or
// a mistake was noted.
func (d *document) parse(data []byte) (root ast.Node) {
	defer func() {
		if recover() != nil { // in the library
			root = nil
			d.errs = append(d.errs, &Error{File: d.file, Reason: "cannot be read as YAML"})
		}
	}()
	if len(data) > MaxFile {
		d.errs = append(d.errs, &Error{File: d.file, Reason: "is longer than 64 KiB; long lists go into files of their own"})
		return nil
	}
	tokens := lexer.Tokenize(string(data))
	if deep := tooDeep(tokens); deep != nil {
		d.fail(deep, "is nested too deep")
		return nil
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	var syntax yaml.Error
	switch {
	case errors.As(err, &syntax):
		message, _, _ := strings.Cut(syntax.GetMessage(), `"`) // behind the quote is a value
		d.fail(syntax.GetToken(), "is no YAML: "+clean(strings.TrimSpace(message)))
		return nil
	case err != nil:
		d.errs = append(d.errs, &Error{File: d.file, Reason: "cannot be read as YAML"})
		return nil
	}
	return d.only(f.Docs)
}

// only returns the body of the document that has one.
func (d *document) only(docs []*ast.DocumentNode) (root ast.Node) {
	for _, doc := range docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case root != nil:
			d.failAt(doc.Body, "is a second document; there can be one")
		default:
			root = doc.Body
		}
	}
	return root
}

// tooDeep returns the token at which the nesting is too deep, or nil. What is
// nested by indentation alone is as deep as its file is long at most by the root.
func tooDeep(tokens token.Tokens) *token.Token {
	depth, line, entries := 0, 0, 0
	for _, tk := range tokens {
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			if tk.Position.Line != line {
				line, entries = tk.Position.Line, 0
			}
			entries++
		}
		if depth > maxDepth || entries > maxDepth {
			return tk
		}
	}
	return nil
}

// fail notes a mistake at a token.
func (d *document) fail(tk *token.Token, reason string) { d.failWith(tk, reason, nil) }

// failAt notes a mistake at a node.
func (d *document) failAt(n ast.Node, reason string) { d.failWith(start(n), reason, nil) }

func (d *document) failWith(tk *token.Token, reason string, err error) {
	e := &Error{File: d.file, Reason: reason, err: err}
	if tk != nil && tk.Position != nil {
		e.Line, e.Column = max(tk.Position.Line, 1), max(tk.Position.Column, 1)
	}
	d.errs = append(d.errs, e)
}

// start returns the token at which a node begins. That of a mapping in block
// style would be its first colon.
func start(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

// place names where a node is, for the rules that are made of it: "shop.yaml:3:7".
func (d *document) place(n ast.Node) string {
	p := start(n).Position
	return d.file + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

// A field is a key of a mapping and what is done with its value.
type field struct {
	name string
	read func(ast.Node)
}

// mapping reads a mapping of these fields.
func (d *document) mapping(n ast.Node, fields ...field) {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	d.pairs(n, func(key, value ast.Node, name string) {
		for _, f := range fields {
			if f.name == name {
				f.read(value)
				return
			}
		}
		d.unknown(key, names, name)
	})
}

// unknown notes a key that does not exist.
func (d *document) unknown(key ast.Node, names []string, name string) {
	what := "there is no such key"
	if isName(name) {
		what = "there is no key " + name
	}
	if near := suggest.Nearest(names, name); near != "" {
		d.failAt(key, what+"; did you mean "+near+"?")
		return
	}
	d.failAt(key, what+"; there are "+strings.Join(names, ", "))
}

// pairs calls read for every pair of a mapping whose key is a text that was not
// there before.
func (d *document) pairs(n ast.Node, read func(key, value ast.Node, name string)) {
	seen := map[string]bool{}
	for _, kv := range d.values(n) {
		name, ok := d.text(kv.Key)
		switch {
		case !ok:
		case seen[name]:
			d.failAt(kv.Key, "this key was there before")
		default:
			seen[name] = true
			read(kv.Key, kv.Value, name)
		}
	}
}

// values returns the pairs of a mapping.
func (d *document) values(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	d.failAt(n, "must be a mapping (key: value)"+but(n))
	return nil
}

// items returns the elements of a sequence.
func (d *document) items(n ast.Node) []ast.Node {
	if s, ok := n.(*ast.SequenceNode); ok {
		return s.Values
	}
	d.failAt(n, "must be a list"+but(n))
	return nil
}

// text returns a scalar as it stands. A number is taken as it was written.
func (d *document) text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value, true
	}
	d.failAt(n, "must be a text on one line"+but(n))
	return "", false
}

// texts calls read for every text of a sequence.
func (d *document) texts(n ast.Node, read func(n ast.Node, text string)) {
	for _, item := range d.items(n) {
		if text, ok := d.text(item); ok {
			read(item, text)
		}
	}
}

// bool returns true or false.
func (d *document) bool(n ast.Node) bool {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		d.failAt(n, "must be true or false"+but(n))
		return false
	}
	return b.Value
}

// but says what a node is instead, if that is not plain to see.
func but(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return ", and is empty"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "; anchors and aliases are not taken"
	case *ast.TagNode:
		return "; tags are not taken"
	}
	return ""
}
