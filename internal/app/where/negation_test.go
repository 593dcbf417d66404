package where

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record"
)

// negations are the operators that negate another one, which must hold for
// absent fields too.
var negations = map[string]string{
	"!=": "==", "not in": "in", "not contains": "contains", "not startsWith": "startsWith",
	"not endsWith": "endsWith", "not matches": "matches",
}

// TestNegation: for every field and record, a negative operator is the negation
// of its positive operator, alone, in a chain, and with the constant on
// the left.
func TestNegation(t *testing.T) {
	operands := map[kind][]string{
		number:  {`200`, `0`, `-1`, `1.5`, `bytes`, `line`},
		text:    {`""`, `"GET"`, `"-"`, `referer`, `vhost`},
		instant: {`"2026-11-02T06:25:00+01:00"`, `time`},
	}
	lists := map[kind]string{number: `[200, -1]`, text: `["", "GET"]`, instant: `["2026-11-02T06:25:00+01:00"]`}
	checked := 0
	for _, name := range fieldNames {
		k := kindOf(name)
		for negative, positive := range negations {
			others := operands[k]
			switch {
			case positive == "in":
				others = []string{lists[k]}
			case positive == "matches" && k == text:
				others = []string{`"G|^$"`}
			case positive == "matches" || positive != "==" && k != text:
				continue
			}
			for _, other := range others {
				pairs := [][2]string{{name + " " + negative + " " + other, name + " " + positive + " " + other}}
				if positive == "==" {
					pairs = append(pairs, [2]string{other + " != " + name, other + " == " + name})
				}
				for _, pair := range pairs {
					checkNegation(t, pair[0], pair[1])
					checked++
				}
			}
		}
	}
	if checked < 400 {
		t.Errorf("only %d pairs were compared", checked)
	}
}

// checkNegation checks that the two conditions are opposites on each line that is
// a record, alone and where && and || join them with others.
func checkNegation(t *testing.T, negative, positive string) {
	t.Helper()
	for _, form := range []string{"%", "status < 600 && %", "% && line > 0", "has(vhost) || %"} {
		one, other := strings.Replace(form, "%", negative, 1), strings.Replace(form, "%", "!("+positive+")", 1)
		if a, b := keptRecords(t, one), keptRecords(t, other); a != b {
			t.Errorf("%s keeps\n%s%s keeps\n%s", one, a, other, b)
		}
	}
}

func keptRecords(t *testing.T, expression string) string {
	t.Helper()
	c := newConfig(t, record.RenderRewrite)
	c.Where = compile(t, expression)
	out, _ := run(t, c, logLines[:4])
	return out
}

// TestNegationUnread asks about records whose URL does not change, which are read
// another way: without a size, a status or a method.
func TestNegationUnread(t *testing.T) {
	lines := []string{
		`192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] "GET /a HTTP/1.1" 200 -`,
		`192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] "GET /a HTTP/1.1" - 5`,
		`192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] " /a HTTP/1.1" 200 5`,
		`192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] "GET /a HTTP/1.1" 404 7`,
	}
	for positive, negative := range map[string]string{
		`status == 404`: `status != 404`, `bytes == 7`: `bytes != 7`, `method == ""`: `method != ""`, `method == "GET"`: `method != "GET"`,
		`bytes == 5 || method == ""`: `bytes != 5 && method != ""`,
	} {
		c := newConfig(t, record.RenderRewrite)
		c.Format = "clf"
		var outs [3]string
		for i, expression := range []string{negative, "!(" + positive + ")", negative + " && record != \"\""} {
			c.Where = compile(t, expression)
			j, err := record.New(c)
			if err != nil {
				t.Fatal(err)
			}
			outs[i] = appendRuns(j.NewWorker(), lines)
		}
		if outs[0] != outs[1] || outs[0] != outs[2] {
			t.Errorf("%s keeps\n%s! keeps\n%swithout the fast path\n%s", negative, outs[0], outs[1], outs[2])
		}
	}
}

// appendRuns returns the output for lines, of which the worker reads as many as
// possible by AppendRun.
func appendRuns(w *record.Worker, lines []string) string {
	var out []byte
	var st record.Stats
	for _, line := range lines {
		var at record.Position
		var run []record.Extent
		text := []byte(line + "\n")
		w.Begin(text)
		if out, run = w.AppendRun(out, run, 0, len(text), &at, 1, &st); len(run) == 0 {
			out, _ = w.Append(out, nil, text, at, &st)
		}
	}
	return string(out)
}

// TestDeadLetterOfFilter: a condition about the host keeps URLs that have none
// because they cannot be parsed, so that they reach the dead letter.
func TestDeadLetterOfFilter(t *testing.T) {
	c := newConfig(t, record.RenderURLs)
	c.Format, c.OnRejected = "lines", record.DispositionDead
	c.Where = compile(t, `host != "a.example"`)
	out, st := run(t, c, []string{"http://a.example/", "http://[::/", "http://b.example/"})
	if out != "http://b.example/\n" || st.Dead != 1 || st.Filtered != 1 {
		t.Errorf("out %q, %+v", out, st)
	}
}
