package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// Limits of a file. The time of the YAML library grows with the square of the
// size and of the depth.
const (
	maxFile  = 64 << 10 // bytes
	maxDepth = 16
)

// A document is a YAML file that is being parsed, and the errors found in it.
type document struct {
	file string
	errs []*Error
	exp  *expander // nil: scalars are not expanded

	names map[ast.Node]string // names of values, for errors: the key, or "brokers[0]"
}

// hint returns a hint for a syntax error on a line that is indented with a tab
// or contains ${: a brace has a meaning in YAML unless the value is quoted.
func hint(text string, at *token.Token) string {
	lines := strings.Split(text, "\n")
	if at == nil || at.Position == nil || at.Position.Line < 1 || at.Position.Line > len(lines) {
		return ""
	}
	switch line := lines[at.Position.Line-1]; {
	case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		return " (indent with spaces, not tabs)"
	case strings.Contains(line, "${"):
		return " (inside braces and brackets, quote values that contain ${)"
	}
	return ""
}

// parse returns the root of the only document in data. It returns nil for an
// empty file or after recording an error.
func (d *document) parse(data []byte) (root ast.Node) {
	defer func() {
		if recover() != nil { // a bug of the YAML library
			root = nil
			d.errs = append(d.errs, &Error{File: d.file, Reason: "cannot parse as YAML"})
		}
	}()
	if len(data) > maxFile {
		d.errs = append(d.errs, &Error{File: d.file, Reason: "file is larger than 64 KiB: move long lists into separate files"})
		return nil
	}
	text := strings.TrimPrefix(string(data), "\ufeff") // YAML 1.2.2 §5.2 allows a byte order mark
	tokens := joinColons(lexer.Tokenize(text))
	if deep := tooDeep(tokens); deep != nil {
		d.fail(deep, "nested more than "+strconv.Itoa(maxDepth)+" levels deep")
		return nil
	}
	if second := secondDocument(tokens); second != nil {
		d.fail(second, "second document: a file must contain only one")
		return nil
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	var syntax yaml.Error
	switch {
	case errors.As(err, &syntax):
		message, _, _ := strings.Cut(syntax.GetMessage(), `"`) // a value follows the quote
		d.fail(syntax.GetToken(), "invalid YAML: "+clean(strings.TrimSpace(message))+hint(text, syntax.GetToken()))
		return nil
	case err != nil:
		d.errs = append(d.errs, &Error{File: d.file, Reason: "cannot parse as YAML"})
		return nil
	}
	for _, doc := range f.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType { // the library treats a comment before the document marker as a document
			root = doc.Body
		}
	}
	r := resolver{document: d, anchors: map[string]ast.Node{}, sizes: map[ast.Node]int{}}
	if root != nil {
		root = r.resolve(root)
	}
	if r.full {
		return nil
	}
	return root
}

// secondDocument returns the token that starts a second document, which may be
// empty, or nil (YAML 1.2.2 §9.2).
func secondDocument(tokens token.Tokens) *token.Token {
	begun, ended, directive := false, false, 0
	for _, tk := range tokens {
		switch {
		case tk.Type == token.CommentType:
		case tk.Type == token.DirectiveType && !begun:
			directive = tk.Position.Line
		case tk.Position.Line == directive:
		case tk.Type == token.DocumentEndType:
			ended = begun
		case ended, begun && tk.Type == token.DocumentHeaderType:
			return tk
		default:
			begun = true
		}
	}
	return nil
}

// tooDeep returns the token at which the nesting becomes too deep, or nil. It
// ignores nesting by indentation, whose depth is limited by the square root of
// the file size.
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

// joinColons works around a defect of the library, which parses [kafka:9092] in
// a list inside a flow mapping as a mapping. In a plain scalar, a colon that is
// not followed by a space is part of the text (YAML 1.2.2 §7.3.3).
func joinColons(tokens token.Tokens) token.Tokens {
	var out token.Tokens
	for i := 0; i < len(tokens); i++ {
		tk := tokens[i]
		last := len(out) - 1
		if tk.Type == token.MappingValueType && last >= 0 && i+1 < len(tokens) && follows(out[last], tk) && follows(tk, tokens[i+1]) &&
			out[last].Type == token.StringType && isPlain(tokens[i+1]) {
			tail := tokens[i+1]
			out[last] = token.String(out[last].Value+":"+tail.Value, out[last].Origin+tk.Origin+tail.Origin, out[last].Position)
			i++
			continue
		}
		out = append(out, tk)
	}
	for i, tk := range out {
		tk.Prev, tk.Next = nil, nil
		if i > 0 {
			tk.Prev, out[i-1].Next = out[i-1], tk
		}
	}
	return out
}

// follows reports whether b follows a immediately.
func follows(a, b *token.Token) bool {
	return a.Position.Line == b.Position.Line && a.Position.Column+utf8.RuneCountInString(a.Value) == b.Position.Column
}

// isPlain reports whether a token is an unquoted scalar.
func isPlain(tk *token.Token) bool {
	switch tk.Type {
	case token.StringType, token.IntegerType, token.FloatType, token.BoolType, token.NullType, token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType:
		return true
	}
	return false
}

// fail records an error at a token.
func (d *document) fail(tk *token.Token, reason string) { d.failWith(tk, reason, nil) }

// failAt records an error at a node. If the node is a named value, the reason
// starts with its name.
func (d *document) failAt(n ast.Node, reason string) {
	d.failWith(start(n), prefixed(d.names[n], reason), nil)
}

func (d *document) failWith(tk *token.Token, reason string, err error) {
	d.errs = append(d.errs, d.error(tk, reason, err))
}

// error returns an error at a token, or without a position if tk is nil.
func (d *document) error(tk *token.Token, reason string, err error) *Error {
	at := positionOf(tk)
	return &Error{File: d.file, Line: at.line, Column: at.column, Reason: d.exp.scrub(reason, at), err: err}
}

// positionOf returns the position of a token, or the zero position.
func positionOf(tk *token.Token) (at position) {
	if tk != nil && tk.Position != nil {
		at = position{max(tk.Position.Line, 1), max(tk.Position.Column, 1)}
	}
	return at
}

// scrub removes expanded values from errors that were recorded before the value
// was read.
func (d *document) scrub() {
	for _, e := range d.errs {
		e.Reason = d.exp.scrub(e.Reason, position{e.Line, e.Column})
	}
}

// start returns the first token of a node. GetToken would return the first
// colon of a mapping in block style.
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

// source returns the position of a node, such as "shop.yaml:3:7", for the rules
// parsed from it.
func (d *document) source(n ast.Node) string {
	p := start(n).Position
	return d.file + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

// A keyReader is a key of a mapping with a function that decodes its value.
type keyReader struct {
	name string
	read func(ast.Node)
}

// unknown records an error about an unknown key, and returns the nearest of
// names. It lists names only if they are few, because a long list would hide
// the error.
func (d *document) unknown(key ast.Node, names []string, name string) (near string) {
	const short = 8
	what := unknown("key", name)
	near = suggest.Nearest(names, name)
	switch login, ok := loginKeys[name]; {
	case ok && slices.Contains(names, "sasl"):
		d.failAt(key, fmt.Sprintf("%s (did you mean %q?)", what, login))
	case near != "" || len(names) <= short:
		d.failAt(key, noSuch(what, names, name))
	default:
		d.failAt(key, what)
	}
	return near
}

// loginKeys holds the keys of a Kafka login that are often written beside sasl
// instead of in it.
var loginKeys = map[string]string{
	"user": "sasl.username", "username": "sasl.username", "password": "sasl.password", "mechanism": "sasl.mechanism",
}

// pairs calls read for every pair of a mapping. It records errors for keys that
// are not scalars and for duplicate keys, and skips them.
func (d *document) pairs(n ast.Node, read func(key, value ast.Node, name string)) {
	seen := map[string]bool{}
	for _, kv := range d.values(n) {
		name, _, ok := d.written(kv.Key)
		switch {
		case !ok:
		case seen[name]:
			d.failAt(kv.Key, named("duplicate key", name))
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
	hint := but(n)
	if _, ok := n.(*ast.BoolNode); ok && strings.HasSuffix(n.GetPath(), ".redact") { // redact was a boolean in earlier versions
		hint = ": true is now [passwords], false is now []"
	}
	d.failAt(n, "must be a list"+hint)
	return nil
}

// text returns an expanded scalar. It returns a number as it was written.
func (d *document) text(n ast.Node) (string, bool) {
	text, _, ok := d.scalar(n)
	return text, ok
}

// scalar returns a scalar with its references expanded, and whether it had any.
func (d *document) scalar(n ast.Node) (text string, expanded, ok bool) {
	text, isString, ok := d.written(n)
	if !ok || !isString || d.exp == nil || !strings.Contains(text, "${") {
		return text, false, ok
	}
	text, reason := d.exp.expand(text, positionOf(start(n)))
	if reason != "" {
		d.failAt(n, reason)
		return "", false, false
	}
	return text, true, true
}

// written returns a scalar without expanding it, and whether it is a string
// rather than a number.
func (d *document) written(n ast.Node) (text string, isString, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true, true
	case *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value, false, true
	}
	d.failAt(n, "must be a single-line string"+but(n))
	return "", false, false
}

// bool decodes a boolean.
func (d *document) bool(n ast.Node) bool {
	if b, ok := n.(*ast.BoolNode); ok {
		return b.Value
	}
	if s, ok := n.(*ast.StringNode); ok && d.exp != nil && strings.Contains(s.Value, "${") {
		text, _, ok := d.scalar(n)
		if !ok || text == "true" || text == "false" {
			return text == "true"
		}
	}
	d.failAt(n, "must be true or false"+but(n))
	return false
}

// but returns an addition to an error about the type of a node, if the cause
// may not be obvious.
func but(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return ", not empty"
	case *ast.BoolNode:
		return " (quote it)"
	case *ast.TagNode:
		return " (tags are not supported)"
	}
	return ""
}
