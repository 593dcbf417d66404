package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/ground/metric"
)

// This file makes the pages about metrics and log events from the calls in the
// source that emit them.

// A sourceCall is a call in the source whose arguments are known as far as they are
// constant.
type sourceCall struct {
	area string   // folder of the package, such as sources/file
	name string   // of the function or method
	args []string // texts of constant strings; "" for others
}

// sourceCalls returns the calls of functions and methods with these names in the
// daemon's packages, tests excepted.
func sourceCalls(t *testing.T, names ...string) []sourceCall {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	packages := map[string][]*ast.File{}
	for _, dir := range []string{"config", "internal", "pipeline", "sinks", "sources"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testkit" || d.Name() == "pipelinetest"):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil {
				area, _ := filepath.Rel(root, filepath.Dir(path))
				packages[filepath.ToSlash(area)] = append(packages[filepath.ToSlash(area)], f)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var calls []sourceCall
	for _, area := range slices.Sorted(maps.Keys(packages)) {
		texts := constantTexts(packages[area])
		for _, f := range packages[area] {
			ast.Inspect(f, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok && slices.Contains(names, calledName(c)) {
					call := sourceCall{area: area, name: calledName(c)}
					for _, a := range c.Args {
						text, ok := constantText(a, texts)
						if !ok {
							text = ""
						}
						call.args = append(call.args, text)
					}
					calls = append(calls, call)
				}
				return true
			})
		}
	}
	return calls
}

// calledName returns the name of the function or method that c calls.
func calledName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// constantTexts returns the string constants of a package, by name. Those of
// functions count too: the source gives no name two meanings.
func constantTexts(files []*ast.File) map[string]string {
	texts := map[string]string{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, s := range d.Specs {
					v := s.(*ast.ValueSpec)
					for i := range min(len(v.Names), len(v.Values)) {
						if text, ok := constantText(v.Values[i], texts); ok {
							texts[v.Names[i].Name] = text
						}
					}
				}
			}
			return true
		})
	}
	return texts
}

// constantText returns the value of a constant string.
func constantText(e ast.Expr, texts map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		text, ok := texts[e.Name]
		return text, ok
	case *ast.SelectorExpr:
		text, ok := map[string]string{"Counter": metric.Counter, "Gauge": metric.Gauge}[e.Sel.Name]
		return text, ok
	case *ast.BinaryExpr:
		x, okX := constantText(e.X, texts)
		y, okY := constantText(e.Y, texts)
		return x + y, okX && okY
	}
	return "", false
}

// A metricRow is a line of the page about metrics.
type metricRow struct {
	name, help, kind string
	labels           []string
	areas            []string
}

// metricArea says who emits a metric.
func metricArea(area string) string {
	switch {
	case strings.HasPrefix(area, "sources/"), strings.HasPrefix(area, "sinks/"):
		kind, name, _ := strings.Cut(area, "/")
		return strings.TrimSuffix(kind, "s") + " " + name
	}
	return "all"
}

// metricRows returns the metrics of the daemon, by name.
func metricRows(t *testing.T) []*metricRow {
	t.Helper()
	rows := map[string]*metricRow{}
	perComponent := false // set after the first call of table.of
	add := func(area, name, help, kind string, labels []string) {
		r := rows[name]
		if r == nil {
			r = &metricRow{name: name}
			rows[name] = r
		}
		r.help, r.kind = cmp.Or(r.help, help), cmp.Or(r.kind, kind)
		if metricArea(area) != "all" || perComponent {
			labels = append([]string{"component", ""}, labels...)
		}
		for i := 0; i < len(labels); i += 2 {
			if l := labels[i]; l != "" && !slices.Contains(r.labels, l) {
				r.labels = append(r.labels, l)
			}
		}
		if a := metricArea(area); !slices.Contains(r.areas, a) {
			r.areas = append(r.areas, a)
		}
	}
	kinds := map[string]string{"count": "counter", "gauge": "gauge"} // of the functions of package metric
	for _, c := range sourceCalls(t, "emit", "add", "raise", "one", "count", "gauge", "of") {
		kind := kinds[c.name]
		perComponent = (perComponent || c.name == "of") && c.area == "internal/observe/metrics"
		switch {
		case c.name == "one" && len(c.args) == 4: // of a JetStream component
			kind = kinds[map[bool]string{true: "count", false: "gauge"}[strings.HasSuffix(c.args[1], "_total")]]
			add(c.area, c.args[1], c.args[2], kind, []string{"stream", "", "consumer", ""})
		case kind != "" && len(c.args) > 2 && c.args[0] != "" && c.args[1] != "" && !strings.ContainsAny(c.args[0], " .-"):
			add(c.area, c.args[0], c.args[1], kind, c.args[3:])
		case kind != "" || len(c.args) < 4 || c.args[0] == "" || strings.ContainsAny(c.args[0], " .-"):
		case c.name == "raise" && c.area == "internal/observe/metrics":
			add(c.area, c.args[0], c.args[1], "gauge", c.args[3:])
		case c.args[2] == "counter" || c.args[2] == "gauge":
			add(c.area, c.args[0], c.args[1], c.args[2], c.args[4:])
		}
	}
	for _, c := range sourceCalls(t, "NewDesc") {
		if len(c.args) > 1 && c.args[1] != "" {
			add(c.area, strings.TrimPrefix(c.args[0], "urlfold_"), c.args[1], "histogram", []string{"component"})
		}
	}
	list := slices.SortedFunc(maps.Values(rows), func(a, b *metricRow) int { return cmp.Compare(a.name, b.name) })
	for _, r := range list {
		if r.help == "" || r.kind == "" {
			t.Errorf("metric %s: no help or no kind", r.name)
		}
	}
	return list
}

func metricsPage(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# Metrics\n\n" + generated + "`/metrics` of the admin server (`admin.listen`, by default `http://127.0.0.1:8686/metrics`) has these metrics in the\n" +
		"text format of Prometheus, and those of the Go runtime and the process (`go_*`, `process_*`). Metrics of a source or a\n" +
		"sink appear when the configuration has one of that type, and have the label `component`, its name. Labels never hold\n" +
		"URLs.\n\n" +
		"[urlfold.rules.yaml](../../deploy/prometheus/urlfold.rules.yaml) has alerts on them, which\n" +
		"[Alerts](../alerts.md) explains; [urlfold.json](../../deploy/grafana/urlfold.json) is a dashboard.\n\n" +
		"| metric | type | labels | of | meaning |\n|---|---|---|---|---|\n")
	rows := metricRows(t)
	for _, r := range rows {
		labels := ""
		if len(r.labels) > 0 {
			labels = mdCode(strings.Join(r.labels, ", "))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", mdCode("urlfold_"+r.name), r.kind, labels, strings.Join(r.areas, ", "), mdCell(r.help))
	}
	if len(rows) < 50 {
		t.Errorf("%d metrics", len(rows))
	}
	return b.Bytes()
}

// An eventRow is a line of the page about log events.
type eventRow struct {
	level, message, area string
	attrs                []string
}

// relays holds the number of calls that do not name their event themselves, by
// package: the functions that log for others, and those of net/http.
var relays = map[string]int{"internal/ground/logging": 2, "internal/observe/web": 9, "pipeline/engine": 1}

// eventRows returns the messages that the daemon and its parts log, by message.
func eventRows(t *testing.T) []eventRow {
	t.Helper()
	rows, unknown := map[string]*eventRow{}, map[string]int{}
	add := func(area, level, message string, attrs []string) {
		key := area + "\x00" + message
		r := rows[key]
		if r == nil {
			r = &eventRow{level: level, message: message, area: area}
			rows[key] = r
		}
		for i := 0; i < len(attrs); i += 2 {
			if a := attrs[i]; a != "" && !slices.Contains(r.attrs, a) {
				r.attrs = append(r.attrs, a)
			}
		}
	}
	for _, c := range sourceCalls(t, "Info", "Warn", "Error", "Log", "complain", "NewOutage") {
		switch {
		case c.name == "NewOutage" && len(c.args) > 2:
			add(c.area, "WARN", c.args[1], append([]string{"error", "", "lasting", ""}, c.args[3:]...))
			add(c.area, "INFO", c.args[2], append([]string{"lasted", ""}, c.args[3:]...))
		case c.name == "complain" && len(c.args) > 1 && c.args[1] != "":
			add(c.area, "WARN", c.args[1], c.args[2:])
		case c.name == "Log" && len(c.args) > 2 && c.args[2] != "":
			add(c.area, "INFO, ERROR", c.args[2], c.args[3:])
		case c.name != "Log" && len(c.args) > 0 && c.args[0] != "":
			add(c.area, strings.ToUpper(c.name), c.args[0], c.args[1:])
		case len(c.args) > 1:
			unknown[c.area]++
		}
	}
	if !maps.Equal(unknown, relays) {
		t.Errorf("calls that log an event that is not a constant, so that docs/reference/log-events.md lacks it: %v, want %v", unknown, relays)
	}
	return slices.SortedFunc(func(yield func(eventRow) bool) {
		for _, r := range rows {
			if !yield(*r) {
				return
			}
		}
	}, func(a, b eventRow) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.message), strings.ToLower(b.message)), cmp.Compare(a.area, b.area))
	})
}

// eventPart names the part of the program that logs an event.
func eventPart(area string) string {
	switch kind, name, _ := strings.Cut(area, "/"); kind {
	case "sources", "sinks":
		return strings.TrimSuffix(kind, "s") + " " + name
	case "pipeline":
		return kind
	}
	return strings.Replace(path.Base(area), "unique", "dedupe", 1) // the word of the glossary
}

func eventsPage(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# Log events\n\n" + generated + "`urlfold run` logs to stderr, as text or JSON (`log.format`). The message of a line, `msg`, names the event: it is\n" +
		"constant, so you can search for it and count it. The details are attributes. `error` is the reason, `component` the\n" +
		"source or sink. No message and no attribute holds a URL. `log.repeat_interval` suppresses repetitions of one event, but\n" +
		"never of one at level ERROR, so the sums of `lost_records`, `lost_messages` and `lost_bytes` are complete. With\n" +
		"`log.format: json`, every line is JSON, even the last one.\n\n" +
		"| level | means |\n|---|---|\n" +
		"| INFO | something happened as intended |\n" +
		"| WARN | something failed and is retried, or a record or a file is affected; if it lasts, `/readyz` names the part in trouble: see [Recovery](../recovery.md) |\n" +
		"| ERROR | records may be lost or duplicated, or a change was refused |\n")
	rows := eventRows(t)
	b.WriteString("\n## Events\n\n| event | level | part | attributes | meaning |\n|---|---|---|---|---|\n")
	used := map[string]bool{}
	for _, r := range rows {
		if used[r.message] = true; advice[r.message] == "" {
			t.Errorf("%s: the event %q has no advice: add it to docs_events_test.go", r.area, r.message)
		}
		attrs := ""
		if len(r.attrs) > 0 {
			attrs = mdCode(strings.Join(r.attrs, ", "))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", mdCode(r.message), r.level, eventPart(r.area), attrs, advice[r.message])
	}
	for message := range advice {
		if !used[message] {
			t.Errorf("docs_events_test.go has advice on %q, which no code logs", message)
		}
	}
	if len(rows) < 50 {
		t.Errorf("%d events", len(rows))
	}
	return b.Bytes()
}
