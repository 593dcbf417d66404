package where

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/klauspost/compress/gzip"

	"github.com/urlfold/urlfold/internal/record"
)

// This file compares expressions with their evaluation by expr-lang itself, on
// the objects of the rendering jsonl. It is slow, and shares only the parser
// with this package.

// twin evaluates an expression on objects.
type twin struct {
	keep  func(object map[string]any) bool
	error bool // the expression reads the field error
}

// newTwin returns the twin of a valid expression.
func newTwin(t testing.TB, text string) *twin {
	t.Helper()
	var w twin
	env := map[string]any{
		"has": func(v any) bool { return v != nil },
		"at":  instantOf,
	}
	names := []string{}
	env["flag"] = func(name string) bool { return slices.Contains(names, name) }
	program, err := expr.Compile(text, expr.Env(env), expr.AllowUndefinedVariables(), expr.Patch(&guard{}), expr.DisableAllBuiltins(), expr.Optimize(false))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	w.error = strings.Contains(text, "error")
	w.keep = func(object map[string]any) bool {
		names = names[:0]
		flags, _ := object["flags"].([]any)
		for _, f := range flags {
			names = append(names, f.(string))
		}
		for _, name := range fieldNames {
			env[name] = object[name]
		}
		env[changed] = object[changed]
		result, err := expr.Run(program, env)
		if err != nil {
			t.Fatalf("%s on %v: %v", text, object, err)
		}
		return result.(bool)
	}
	return &w
}

// instantOf returns a time as a text that sorts like it. A number of nanoseconds
// would overflow in the year 1000.
func instantOf(v any) string {
	text, _ := v.(string)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format("2006-01-02T15:04:05.000000000")
		}
	}
	return ""
}

// guard makes comparisons with absent fields false, except !=, which it makes the
// negation of ==, and comparisons with the field time those of points in time.
type guard struct{}

func (guard) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok {
		return
	}
	logical := []string{"&&", "||", "and", "or"}
	if slices.Contains(logical, n.Operator) {
		return
	}
	call := func(name string, arg ast.Node) ast.Node {
		return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: []ast.Node{arg}}
	}
	var guarded ast.Node
	isTime := false
	for _, side := range []ast.Node{n.Left, n.Right} {
		if id, ok := side.(*ast.IdentifierNode); ok && id.Value != changed {
			isTime = isTime || id.Value == "time"
			has := call("has", &ast.IdentifierNode{Value: id.Value})
			if guarded == nil {
				guarded = has
			} else {
				guarded = &ast.BinaryNode{Operator: "&&", Left: guarded, Right: has}
			}
		}
	}
	if guarded == nil {
		return
	}
	operator := n.Operator
	if operator == "!=" {
		n = &ast.BinaryNode{Operator: "==", Left: n.Left, Right: n.Right}
	}
	if isTime && slices.Contains([]string{"==", "<", "<=", ">", ">="}, n.Operator) {
		n = &ast.BinaryNode{Operator: n.Operator, Left: call("at", n.Left), Right: call("at", n.Right)}
	}
	var holds ast.Node = &ast.BinaryNode{Operator: "&&", Left: guarded, Right: n}
	if operator == "!=" {
		holds = &ast.UnaryNode{Operator: "not", Node: holds}
	}
	ast.Patch(node, holds)
}

// checkTwin checks that the output with the expression is the output without
// it, reduced to the objects that the twin keeps.
func checkTwin(t testing.TB, c record.Config, text string, lines []string) {
	t.Helper()
	c.Render, c.Fields = record.RenderJSONL, fieldNames
	all, _ := run(t, c, lines)
	asRewritten := c
	asRewritten.Render, asRewritten.Fields = record.RenderRewrite, nil
	out, _ := run(t, asRewritten, lines)
	rewritten := strings.Split(out, "\n")
	c.Where = compile(t, text)
	some, st := run(t, c, lines)
	want, w := "", newTwin(t, text)
	for line := range strings.Lines(all) {
		object := map[string]any{}
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		for name, v := range object {
			if plain, ok := strings.CutSuffix(name, "_b64"); ok {
				raw, err := base64.StdEncoding.DecodeString(v.(string))
				if err != nil {
					t.Fatal(err)
				}
				object[plain] = string(raw)
			}
		}
		n := int(object["line"].(float64)) - 1
		object[changed] = rewritten[n] != lines[n]
		unparsed := object["url"] == nil && object["error"] != nil
		if unparsed && !w.error || w.keep(object) {
			want += line
		}
	}
	if some != want {
		got, wanted := strings.SplitAfter(some, "\n"), strings.SplitAfter(want, "\n")
		i := 0
		for i < min(len(got), len(wanted))-1 && got[i] == wanted[i] {
			i++
		}
		t.Fatalf("%s: object %d is\n%swant\n%s", text, i, got[i], wanted[i])
	}
	if st.Records != int64(len(lines)) || st.Records != st.Emitted+st.Dropped+st.Filtered {
		t.Errorf("%s: %d lines, %+v", text, len(lines), st)
	}
}

// sample returns the lines of the sample log.
func sample(t testing.TB) []string {
	t.Helper()
	f, err := os.Open("../../../testdata/sample/access.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// TestTwinSample filters the sample log.
func TestTwinSample(t *testing.T) {
	c := newConfig(t, record.RenderJSONL)
	c.Format, c.Base = "combined", "https://www.example.com"
	lines := sample(t)
	for _, text := range []string{
		`status == 200 && site == "example.com" && !flag("non-hex") && !(agent contains "Bot")`,
		`status < 600 && method != "" && bytes >= 0`,
		`time >= "2026-11-02T05:30:00Z" && time < "2026-11-02 06:00:00"`,
		`status in [404, 500] || bytes > 10000`,
		`referer startsWith "https://www." || !has(referer) && method == "POST"`,
		`path matches "[.](css|js|svg)$" || query contains "utm_"`,
		`changed == (status == 200)`,
		`flag("relative") or flag("raw-non-ascii") or has(error)`,
		`error != "port-invalid"`,
		`host == vhost || path != url`,
		`method not in ["GET"] || agent endsWith "0"`,
	} {
		checkTwin(t, c, text, lines)
	}
}

// TestTwinLog filters the log of this package.
func TestTwinLog(t *testing.T) {
	for seed := range 3000 {
		g := generator{state: uint64(seed)}
		checkTwin(t, newConfig(t, record.RenderJSONL), g.condition(0), logLines)
	}
}

// FuzzTwin makes an expression of the bytes.
func FuzzTwin(f *testing.F) {
	f.Add([]byte{}, logLines[0])
	f.Add([]byte{3, 1, 4, 1, 5, 9, 2, 6}, logLines[1])
	f.Add([]byte("status"), logLines[2])
	f.Add([]byte("c2"), `    [1/Nov/1000:0:0:0+0] "0 /"   "" ""  `)
	f.Fuzz(func(t *testing.T, choices []byte, line string) {
		if strings.ContainsAny(line, "\n\r") || strings.TrimSpace(line) == "" {
			return
		}
		g := generator{choices: choices}
		checkTwin(t, newConfig(t, record.RenderJSONL), g.condition(0), []string{line})
	})
}

// FuzzCompile compiles any text, and evaluates it if it is an expression.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`status == 200 && !(agent contains "bot")`, `time in ["2024-01-01"]`, `x ? y : z`, `a | b(#)`, "{\"a\": [1..2]}", `let a = 1; a`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Compile(text, time.UTC)
		if (e == nil) != (err != nil) {
			t.Fatalf("%q: %v, %v", text, e, err)
		}
		if err == nil {
			c := newConfig(t, record.RenderRewrite)
			c.Where = e
			run(t, c, logLines)
		}
	})
}

// generator makes expressions that are valid, from bytes or from a seed.
type generator struct {
	choices []byte
	state   uint64
}

// pick returns a number below n.
func (g *generator) pick(n int) int {
	if g.state > 0 || g.choices == nil {
		g.state = g.state*6364136223846793005 + 1442695040888963407
		return int(g.state>>33) % n
	}
	if len(g.choices) == 0 {
		return 0
	}
	c := g.choices[0]
	g.choices = g.choices[1:]
	return int(c) % n
}

func (g *generator) of(list ...string) string { return list[g.pick(len(list))] }

// condition returns a condition of limited depth.
func (g *generator) condition(depth int) string {
	n := 12
	if depth > 3 {
		n = 8
	}
	switch g.pick(n) {
	case 0:
		return g.number() + g.of(" == ", " != ", " < ", " <= ", " > ", " >= ") + g.of("200", "404", "0", "0.012", "1.5", "12", "-1", g.number())
	case 1:
		return g.of("404", "2326", "0.0") + g.of(" == ", " != ", " < ", " <= ", " > ", " >= ") + g.number()
	case 2:
		return g.text() + g.of(" == ", " != ", " < ", " >= ", " contains ", " startsWith ", " endsWith ") + g.of(g.quoted(), g.text())
	case 3:
		return "time" + g.of(" == ", " != ", " < ", " <= ", " > ", " >= ") + g.of(`"2026-11-02"`, `"2026-11-02T05:25:00Z"`, `"2026-11-02 05:25:01"`, `"2026-11-02T06:25:00+01:00"`)
	case 4:
		return g.of("has(", "!has(") + g.of(g.text(), g.number(), "time") + ")"
	case 5:
		return g.of(`flag("non-hex")`, `flag("relative")`, `changed`, `!changed`)
	case 6:
		return g.number() + g.of(" in ", " not in ") + g.of("[200, 404]", "[0]", "[1.5, 12]")
	case 7:
		return g.text() + g.of(` matches "^[a-z/]+$"`, ` matches "(?i)BOT"`, ` in ["GET", "/a"]`, ` not contains "a"`)
	case 8:
		return "!(" + g.condition(depth+1) + ")"
	case 9:
		return "(" + g.condition(depth+1) + ")" + g.of(" == ", " != ") + "(" + g.condition(depth+1) + ")"
	}
	return "(" + g.condition(depth+1) + g.of(" && ", " || ", " and ", " or ") + g.condition(depth+1) + ")"
}

func (g *generator) number() string { return g.of("status", "bytes", "duration", "line", "offset") }

func (g *generator) text() string {
	return g.of("method", "path", "query", "host", "vhost", "site", "agent", "referer", "client", "request_id", "url", "norm", "scheme", "port", "change", "error", "record")
}

func (g *generator) quoted() string {
	return g.of(`"GET"`, `""`, `"/a"`, `"example"`, `"www.example.com"`, `"curl/8.9.1"`, `"unchanged"`, `"b"`)
}
