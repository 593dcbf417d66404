package daemon

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/config"
)

const plain = `version: 1
sources:
  - file:
      from: csv
      url_field: "2"
      base: "https://h/"
      include: ["in/*.log"]
sinks:
  - discard: {}
on_error: {rejected: drop}
`

// loaded loads a configuration in which a text is replaced.
func loaded(t *testing.T, old, text string) (*config.File, error) {
	t.Helper()
	if !strings.Contains(plain, old) {
		t.Fatalf("there is no %q", old)
	}
	return loadText(t, strings.Replace(plain, old, text, 1))
}

// A reload swaps the rules while records are in progress. It does not swap
// the settings that say where records end or go.
func TestSameFlow(t *testing.T) {
	plan := func(old, text string) *plan {
		f, err := loaded(t, old, text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := testCatalog(t).newPlan(f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	same := plan("", "")
	f := func(want bool, old, text string) {
		t.Helper()
		if got := sameFlow(same, plan(old, text)); got != want {
			t.Errorf("%s: the flow is the same: %v", text, got)
		}
	}
	f(true, "https://h/", "https://other/")
	f(true, "sinks:", "codec:\n  profile: crawler\n  to: {extend: {n: norm}}\n  reject: [credentials]\nsinks:")
	f(true, "version: 1", "version: 1\ntests: [{url: a, reject: relative-without-base}]")
	f(true, "version: 1", "version: 1\nwhere: has(norm)")
	f(false, "https://h/", "https://{host}/") // there is a header now
	f(false, "from: csv", "from: tsv")
	f(false, `"2"`, `"1"`)
	f(false, "discard: {}", "discard: {name: other}")
	f(false, "drop}", "drop, oversize: stop}")
	f(false, "sinks:", "workers: 3\nsinks:")
	f(false, "in/*.log", "in/*.txt")
	f(true, "sinks:", "codec:\n  to: {csv: {header: false}}\nsinks:")
	f(false, "sinks:", "codec:\n  to: csv\nsinks:") // files begin with a header now
	two := "sinks:\n  - discard: {name: other}"
	f(false, "sinks:", "route: [{where: has(norm), sinks: [other]}, {else: [discard-sink-1]}]\n"+two)
	same = plan("sinks:", "route: [{where: has(norm), sinks: [other]}, {else: [discard-sink-1]}]\n"+two)
	f(true, "sinks:", "route: [{where: has(error), sinks: []}, {where: has(key), sinks: [discard-sink-1]}, {else: [other]}]\n"+two)
	f(false, "sinks:", two)
}

// TestReloadKinds changes each section. The effect is the one in docs/operations.md.
func TestReloadKinds(t *testing.T) {
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	const atOnce, pipeline, restart = "at once", "new pipeline", "restart"
	seen := map[string]bool{"version": true} // there is only one
	// effect checks the effect of replacing was by is. sub names a part of the section.
	effect := func(key, sub, want, was, is string) {
		t.Helper()
		seen[key] = true
		var plans [2]*plan
		for i, text := range []string{was, is} {
			f, err := loadText(t, text)
			if err == nil {
				plans[i], err = testCatalog(t).newPlan(f)
			}
			if err != nil {
				t.Errorf("%s: %v", key, err)
				return
			}
		}
		got := pipeline
		if err := fixed(plans[0], plans[1]); err != nil {
			got = restart
			if text := err.Error(); !strings.HasPrefix(text, "changing these settings requires a restart: "+key) {
				t.Errorf("%s: %s", key, text)
			}
		} else if sameFlow(plans[0], plans[1]) {
			got = atOnce
		} else if uses(plans[0].file.Sources, "stdin") {
			got = restart
		}
		_, row, _ := strings.Cut(string(page), "\n| `"+key+"` | ")
		row, _, _ = strings.Cut(row, " |\n")
		documented, rest, _ := strings.Cut(row, "; ")
		if sub != "" {
			documented = ""
			for part := range strings.SplitSeq(rest, "; ") {
				if strings.Contains(part, sub) {
					_, documented, _ = strings.Cut(part, ": ")
				}
			}
		}
		if got != want || documented != want {
			t.Errorf("%s %s: %s, want %s; the row says %s", key, sub, got, want, row)
		}
	}
	swap := func(old, text string) string {
		if !strings.Contains(plain, old) {
			t.Fatalf("there is no %q", old)
		}
		return strings.Replace(plain, old, text, 1)
	}
	f := func(key, sub, want, more string) { t.Helper(); effect(key, sub, want, plain, plain+more+"\n") }
	f("data_dir", "", restart, "data_dir: /other")
	f("state", "", atOnce, "state: {on_loss: reread}")
	effect("sources", "", pipeline, plain, swap("in/*.log", "in/*.txt"))
	effect("sources", "`base`", atOnce, plain, swap("https://h/", "https://other/"))
	kafka := "sources: [kafka: {from: lines, brokers: [\"h:1\"], topics: [t], group: g}]\nsinks:" + strings.SplitAfter(plain, "sinks:")[1]
	effect("sources", "first file source", restart, kafka, plain)
	piped := strings.Replace(kafka, "kafka: {from: lines, brokers: [\"h:1\"], topics: [t], group: g}", "stdin: {from: lines}", 1)
	effect("sources", "`stdin`", restart, piped, piped+"workers: 3\n")
	f("codec", "", atOnce, "codec: {profile: crawler, key: fetch, secret: [token]}")
	f("codec", "`max_record`", pipeline, "codec: {max_record: 2MiB}")
	f("codec", "`to`", pipeline, "codec: {to: csv}")
	f("where", "", atOnce, "where: has(norm)")
	durable := strings.Replace(plain, "discard: {}", "file: {path: out.csv}", 1)
	effect("dedupe", "", pipeline, durable, durable+"dedupe: {by: key}\n")
	effect("dedupe", "`on_change`", atOnce, durable+"dedupe: {by: key}\n", durable+"dedupe: {by: key, on_change: refuse}\n")
	two := swap("sinks:", "sinks:\n  - discard: {name: other}")
	effect("sinks", "", pipeline, plain, two)
	route := two + "route: [{where: has(norm), sinks: [other]}, {else: [discard-sink-1]}]\n"
	effect("route", "", atOnce, route, strings.Replace(route, "norm", "key", 1))
	effect("route", "`route` added", pipeline, two, route)
	f("dead_letter", "", pipeline, "dead_letter: {file: {path: dead.jsonl}}")
	effect("on_error", "", pipeline, plain, swap("drop}", "drop, oversize: stop}"))
	for key, text := range map[string]string{
		"workers": "3", "order": "lane", "batch": "{linger: 1s}", "max_in_flight": "32MiB", "commit_interval": "3s",
		"memory_limit": "1GiB", "shutdown_timeout": "40s",
	} {
		f(key, "", pipeline, key+": "+text)
	}
	f("admin", "", restart, "admin: {tap: true}")
	f("log", "", restart, "log: {format: json}")
	f("log", "", restart, "log: {repeat_interval: 1s}")
	f("log", "`level`", atOnce, "log: {level: debug}")
	f("shadow", "", atOnce, "shadow: {profile: analytics, key: page}")
	f("tests", "", atOnce, "tests: [{url: a, reject: relative-without-base}]")
	for field := range reflect.TypeFor[config.File]().Fields() {
		if key, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); key != "" && !seen[key] {
			t.Errorf("no change of %s", key)
		}
	}
}

// TestRoutePlaces: every mistake in a route has the place of its key.
func TestRoutePlaces(t *testing.T) {
	const two = "\nsinks:\n  - discard: {name: other}"
	f := func(route, want string) {
		t.Helper()
		if _, err := loaded(t, "sinks:", route+two); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", route, err, want)
		}
	}
	f("route: []", "c.yaml:8:8: route: must have at least 1 element")
	f("route: [{}]", "c.yaml:8:9: a branch must have either the keys where and sinks or the key else")
	f("route: [{where: has(norm)}, {else: [other, discard-sink-1]}]", "c.yaml:8:17: where: requires sinks")
	f("route: [{sinks: [other]}, {else: [other, discard-sink-1]}]", "c.yaml:8:9: a branch must have either the keys where and sinks or the key else")
	f("route: [{where: has(norm), else: [other, discard-sink-1]}]", "c.yaml:8:34: else: cannot be combined with where and sinks")
	f("route: [{where: norm, sinks: [other]}, {else: [discard-sink-1]}]", "c.yaml:8:17: where: column 1: norm is a text, not a condition")
	f("route: [{where: status == 200, sinks: [other]}, {else: [discard-sink-1]}]", "c.yaml:8:17: where: column 1: records of the format csv never have the field status")
	f("route: [{where: has(norm), sinks: [other, other]}, {else: [discard-sink-1]}]", "c.yaml:8:43: sinks[1]: duplicate sink")
	f("route: [{where: has(norm), sinks: [others]}, {else: [other, discard-sink-1]}]", `c.yaml:8:36: sinks[0]: unknown sink "others" (did you mean "other"?); sinks: other, discard-sink-1`)
	f("route: [{where: has(norm), sinks: [other]}, {else: [other]}]", `c.yaml:11:14: no branch of route names the sink "discard-sink-1"`)
	f("route: [{where: has(norm), sinks: [other, discard-sink-1]}]", "c.yaml:8:9: the last branch must be else")
	f("route: [{else: [other]}, {else: [discard-sink-1]}]", "c.yaml:8:16: else: must be the last branch")
	if _, err := loaded(t, "sinks:", "route: [{else: [discard-sink-1]}]\nsinks:"); err == nil || !strings.Contains(err.Error(), "c.yaml:8:8: route: requires at least two sinks") {
		t.Errorf("one sink: %v", err)
	}
	if _, err := loaded(t, "sinks:", "route: [{where: has(error), sinks: []}, {else: [discard-sink-1, other]}]"+two); err != nil {
		t.Error(err)
	}
}

// Every mistake of package record has the place of its key.
func TestRecordPlaces(t *testing.T) {
	f := func(old, text, want string) {
		t.Helper()
		_, err := loaded(t, old, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	const url, rest = "\n      url_field: \"2\"", "\n      base: \"https://h/\"\n      include: [\"in/*.log\"]\n"
	const all = "csv" + url + rest + "sinks:"
	f("sinks:", "dead_letter: {discard: {}}\nsinks:", "c.yaml:8:24: discards records that the metrics count")
	f("from: csv", "from: cvs", "c.yaml:4:13: from: unknown format")
	f("from: csv", "from: csv\n      dialect: nginx", "c.yaml:5:16: dialect: dialects apply only")
	f(`"2"`, `""`, "c.yaml:5:18: url_field: missing: csv needs the name")
	f(all, "clf"+rest+"codec:\n  target: referer\nsinks:", "c.yaml:8:11: target: the format clf has no referer")
	f("csv\n      url_field: \"2\"", "lines\n      base_field: a", "c.yaml:5:19: base_field: base fields")
	f("https://h/", "//h/", "c.yaml:6:13: base: invalid base URL")
	f("https://h/", "https://{host", "c.yaml:6:13: base: invalid base URL: a field has no closing brace")
	f("sinks:", "codec:\n  to: {jsonl: {fields: [norm, keyy]}}\nsinks:", "c.yaml:9:31: fields[1]: unknown field")
	f("sinks:", "codec:\n  to: {extend: {a: norm, b: keyy}}\nsinks:", "c.yaml:9:29: b: unknown field")
	f("sinks:", "codec:\n  to: {extend: {a: norm, a_b64: key}}\nsinks:", "c.yaml:9:33: a_b64: duplicate name")
	f(all, "combined"+rest+"codec:\n  to: {extend: {a: norm}}\nsinks:", "c.yaml:8:7: fields can be added only to")
	f("sinks:", "where: norm\nsinks:", "c.yaml:8:8: where: column 1: norm is a text, not a condition")
	f("sinks:", "where: status == 200\nsinks:", "c.yaml:8:8: where: column 1: records of the format csv never have the field status")
	f("from: csv", "from: csv\n      timezone: Mars/Olympus", "c.yaml:5:17: timezone: unknown time zone")
	f("sinks:", "on_error: {oversize: truncate}\nsinks:", "c.yaml:8:22: oversize: records of a table")
	f("sinks:", "codec:\n  to: {csv: {fields: [norm, keyy]}}\nsinks:", "c.yaml:9:29: fields[1]: unknown field")
	nats := "sinks:\n  - nats: {servers: [\"nats://127.0.0.1\"], subject: a}"
	f("sinks:", "codec:\n  to: csv\n"+nats, "c.yaml:9:7: to: the sink nats-sink-1 writes messages")
	f("sinks:", "codec:\n  to: {tsv: {fields: [norm], header: true}}\n"+nats, "c.yaml:9:38: header: the sink nats-sink-1 writes messages")
	for _, text := range []string{"codec:\n  to: {csv: {header: false}}\n" + nats, "codec:\n  to: {tsv: {fields: [norm]}}\n" + nats} {
		if _, err := loaded(t, "sinks:", text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
