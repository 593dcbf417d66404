package deploy

import (
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// exposed returns the metrics in which promlint finds nothing wrong and that the examples, and a source of core NATS, show
// while they run, each with its labels, and their helps.
func exposed(t *testing.T) (all map[string]map[string]bool, help map[string]string) {
	t.Helper()
	_, c := kafkatest.Fake(t, kfake.SeedTopics(1, "web.access", "web.access.norm", "web.access.dlq"))
	analytics := start(t, "examples/analytics.yaml", "KAFKA_BROKER="+c.Brokers[0])
	analytics.untilReady()
	crawler, _ := startCrawler(t)
	_, env := logEnv(t)
	logs := start(t, replaced(t, "logclean.yaml", "mode: batch", "mode: tail"), env...)
	logs.untilReady()
	listener := filepath.Join(t.TempDir(), "core.yaml")
	write(t, listener, "sources: [{nats: {from: lines, servers: ["+natstest.Start(t, nil).URL()+"], subjects: [in]}}]\n"+
		"sinks: [{discard: {}}]\nadmin: {listen: \"${URLFOLD_ADMIN}\"}\n")
	core := start(t, listener)
	core.untilReady()
	all, help = map[string]map[string]bool{}, map[string]string{}
	for _, p := range []*process{analytics, crawler, logs, core} {
		var text string
		p.until("the metrics of the partition", func() bool {
			_, text = p.get("/metrics")
			addMetrics(all, text)
			maps.Copy(help, helps(text))
			return p != analytics || all["urlfold_source_lag_records"] != nil
		})
		found, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil || len(found) > 0 {
			t.Errorf("promlint: %v, %v", found, err)
		}
	}
	return all, help
}

var (
	sample   = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? \S+$`)
	labelIn  = regexp.MustCompile(`([a-z_]+)="(?:[^"\\]|\\.)*"`)
	queried  = regexp.MustCompile(`\b(?:urlfold|process|go)_[a-z0-9_]+`)
	selector = regexp.MustCompile(`\b((?:urlfold|process|go)_[a-z0-9_]+)\{([^}]*)\}`)
	matcher  = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"`)
	grouped  = regexp.MustCompile(`\bby \(([a-z_, ]+)\)`)
	// A row of the reference, which is made from the code.
	documented = regexp.MustCompile("(?m)^\\| `(urlfold_[a-z_]+)` \\| [a-z]+ \\| `?([a-z_, ]*)`? \\|")
	named      = regexp.MustCompile(`\$labels\.([a-z_]+)|\{\{([a-z_]+)\}\}`)
)

// addMetrics adds what a scrape shows.
func addMetrics(all map[string]map[string]bool, text string) {
	for _, m := range sample.FindAllStringSubmatch(text, -1) {
		if all[m[1]] == nil {
			// What Prometheus adds to all series.
			all[m[1]] = map[string]bool{"instance": true, "job": true}
		}
		for _, l := range labelIn.FindAllStringSubmatch(m[2], -1) {
			all[m[1]][l[1]] = true
		}
	}
}

// problems returns what is wrong with a query and with the text beside it:
// each metric and label in them must exist.
func problems(all map[string]map[string]bool, query, text string) (bad []string) {
	names := queried.FindAllString(query, -1)
	if len(names) == 0 && !strings.HasPrefix(query, "up{") {
		bad = append(bad, "it asks for nothing of urlfold")
	}
	labels := map[string]bool{"instance": true, "job": true} // of all that Prometheus scrapes
	for _, name := range names {
		if all[name] == nil {
			bad = append(bad, "no metric is called "+name)
		}
		maps.Copy(labels, all[name])
	}
	for _, m := range selector.FindAllStringSubmatch(query, -1) {
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !all[m[1]][l[1]] {
				bad = append(bad, m[1]+" has no label "+l[1])
			}
		}
	}
	kept := map[string]bool{}
	for _, m := range grouped.FindAllStringSubmatch(query, -1) {
		for l := range strings.SplitSeq(m[1], ", ") {
			if kept[l] = true; !labels[l] {
				bad = append(bad, "no metric of it has the label "+l)
			}
		}
	}
	if len(kept) > 0 {
		labels = kept
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if l := m[1] + m[2]; !labels[l] {
			bad = append(bad, "the text names the label "+l)
		}
	}
	return bad
}

// What prometheus/ holds.
type (
	rulesFile struct {
		Groups []struct {
			Name  string `yaml:"name"`
			Rules []struct {
				Alert       string            `yaml:"alert"`
				Expr        string            `yaml:"expr"`
				For         string            `yaml:"for"`
				Labels      map[string]string `yaml:"labels"`
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	promConfig struct {
		Global        map[string]string `yaml:"global"`
		RuleFiles     []string          `yaml:"rule_files"`
		ScrapeConfigs []struct {
			Job    string `yaml:"job_name"`
			Static []struct {
				Targets []string `yaml:"targets"`
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Type    string `json:"type"`
			Targets []struct {
				Expr   string `json:"expr"`
				Legend string `json:"legendFormat"`
			} `json:"targets"`
		} `json:"panels"`
	}
)

// runbook is the page with a section for each alert. The anchor of a heading is its
// text in lower case.
const runbook = "https://github.com/urlfold/urlfold/blob/main/docs/alerts.md#"

// Alerts and dashboard ask for metrics and labels that the program has, and what to
// do about each alert is written down.
func TestMonitoring(t *testing.T) {
	all, help := exposed(t)
	var rules rulesFile
	decode(t, "prometheus/urlfold.rules.yaml", &rules)
	manual := read(t, "../docs/alerts.md")
	reference := read(t, "../docs/reference/metrics.md")
	for _, m := range documented.FindAllStringSubmatch(reference, -1) { // of configurations that are not running here
		if all[m[1]] == nil {
			all[m[1]] = map[string]bool{"instance": true, "job": true}
			for l := range strings.SplitSeq(m[2], ", ") {
				all[m[1]][l] = true
			}
		}
	}
	for name := range help {
		if !strings.Contains(reference, "\n| `"+name+"` |") {
			t.Errorf("docs/reference/metrics.md lacks %s", name)
		}
	}
	n, queries, fired := 0, "", read(t, "prometheus/urlfold.rules.test.yaml")
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			for _, p := range problems(all, r.Expr, r.Annotations["summary"]) {
				t.Errorf("%s: %s", r.Alert, p)
			}
			queries += r.Expr + "\n"
			if s := r.Labels["severity"]; s != "critical" && s != "warning" {
				t.Errorf("%s: severity %q", r.Alert, s)
			}
			if !strings.Contains(fired, "\n  - name: "+r.Alert+"\n") {
				t.Errorf("urlfold.rules.test.yaml does not fire %s", r.Alert)
			}
			if !strings.Contains(manual, "\n## "+r.Alert+"\n") {
				t.Errorf("docs/alerts.md does not say what to do about %s", r.Alert)
			}
			if got, want := r.Annotations["runbook_url"], runbook+strings.ToLower(r.Alert); got != want {
				t.Errorf("%s: runbook_url is %q, want %q", r.Alert, got, want)
			}
			n++
		}
	}
	if n < 10 {
		t.Errorf("%d alerts", n)
	}
	for _, bad := range unalerted(help, queries, noAlert) {
		t.Error(bad)
	}
	var d dashboard
	if err := json.Unmarshal([]byte(read(t, "grafana/urlfold.json")), &d); err != nil {
		t.Fatal(err)
	}
	n = 0
	var shown strings.Builder
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			shown.WriteString(q.Expr + "\n")
			for _, bad := range problems(all, q.Expr, q.Legend) {
				t.Errorf("panel %s: %s", p.Title, bad)
			}
			n++
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
	}
	if n < 20 {
		t.Errorf("%d queries", n)
	}
	for _, name := range queried.FindAllString(queries, -1) {
		if strings.HasPrefix(name, "urlfold_") && !regexp.MustCompile(name+`\b`).MatchString(shown.String()) {
			t.Errorf("an alert asks for %s, which is on no panel", name)
		}
	}
	for _, name := range queried.FindAllString(manual+read(t, "../docs/operations.md")+read(t, "../docs/recovery.md")+read(t, "../docs/damaged-files.md"), -1) {
		if strings.HasPrefix(name, "urlfold_") && all[name] == nil {
			t.Errorf("the manual of operators: no metric is called %s", name)
		}
	}
}

// Each alert fires if its fault occurs, and no alert fires without a fault.
func TestRules(t *testing.T) {
	cases := read(t, "prometheus/urlfold.rules.test.yaml")
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(read(t, "prometheus/urlfold.rules.yaml"), -1) {
		if !strings.Contains(cases, `ALERTS{alertname="`+m[1]+`",alertstate="firing"}`) {
			t.Errorf("no case in which %s fires", m[1])
		}
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed; it is part of Prometheus, and .ci/run downloads it")
	}
	for _, args := range [][]string{{"check", "rules", "prometheus/urlfold.rules.yaml"}, {"test", "rules", "prometheus/urlfold.rules.test.yaml"}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
}

// Alertmanager holds back what follows from another alert. Each alert that it names
// exists.
func TestInhibition(t *testing.T) {
	text, rules := read(t, "prometheus/alertmanager.yaml"), read(t, "prometheus/urlfold.rules.yaml")
	names := regexp.MustCompile(`Urlfold\w+`).FindAllString(text, -1)
	for _, name := range names {
		if !strings.Contains(rules, "- alert: "+name+"\n") {
			t.Errorf("no alert is called %s", name)
		}
	}
	if len(names) < 5 {
		t.Errorf("%d alerts", len(names))
	}
}

// A metric is about loss if its name or its help says so.
var aboutLoss = regexp.MustCompile(`(?i)\b(?:los[est]\w*|drop\w*|damag\w*|corrupt\w*|verdicts?|refus\w*|reject\w*|dead|gap|poison\w*|fail\w*|panic\w*|` +
	`delet\w*|truncat\w*|abandon\w*|given up|unreadable|resets?|put away|blocked)\b`)

// noAlert are the metrics about loss without a separate alert, each with the
// reason.
var noAlert = map[string]string{
	"urlfold_sink_refusals_total":              "counts answers, also the retries of one; the alerts on sink_refused_records_total and sink_blocked_batches count what becomes of the records",
	"urlfold_sink_splits_total":                "splitting finds the refused record; the others are written",
	"urlfold_sink_partitions_failing":          "nothing is lost while a partition fails; UrlfoldSinkRetries and UrlfoldStuckLane fire",
	"urlfold_source_truncations_total":         "truncating is how copytruncate rotates; what it loses is in source_lost_bytes_total",
	"urlfold_sink_reconnects_total":            "a connection that is found again loses nothing; one that is not makes the process not ready",
	"urlfold_source_reconnects_total":          "as urlfold_sink_reconnects_total",
	"urlfold_sink_failing_messages":            "the messages are kept and published again; UrlfoldNotReady and UrlfoldSinkRetries fire",
	"urlfold_source_failing":                   "UrlfoldNotReady fires: /readyz asks the source",
	"urlfold_archive_unverified_records_total": "they are of damaged files: UrlfoldDamagedFiles and UrlfoldDamageFound fire",
	"urlfold_rejected_records_total":           "records are rejected in every log; UrlfoldDeadLetters and UrlfoldDiscarded count what becomes of too many",
	"urlfold_source_acks_lost_total":           "the messages are delivered again, and lost nowhere",

	"urlfold_source_stream_lost_messages_total":    "the messages had been processed; UrlfoldConsumerRecreated fires at the same time",
	"urlfold_source_unread_deleted_possible_total": "counts sequences that the filter may exclude, which would page for nothing lost; the log has an error, and UrlfoldStreamRecreated has the exact count",
}

// helps returns the help of each metric in a scrape.
func helps(text string) map[string]string {
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^# HELP (urlfold_\w+) (.*)$`).FindAllStringSubmatch(text, -1) {
		all[m[1]] = m[2]
	}
	return all
}

// unalerted returns the metrics about loss that no alert asks for, though no reason is
// given, and the reasons that are not needed.
func unalerted(helps map[string]string, queries string, reasons map[string]string) (bad []string) {
	asked := map[string]bool{}
	for _, name := range queried.FindAllString(queries, -1) {
		asked[name] = true
	}
	for name, help := range helps {
		about := aboutLoss.MatchString(strings.ReplaceAll(name, "_", " ") + ": " + help)
		switch reason, given := reasons[name]; {
		case about && !asked[name] && !given:
			bad = append(bad, name+" is about loss ("+help+"), and no alert asks for it: write one, or say in noAlert why not")
		case given && (asked[name] || !about || reason == ""):
			bad = append(bad, name+" is in noAlert without need")
		}
	}
	for name := range reasons {
		if helps[name] == "" {
			bad = append(bad, name+" is in noAlert, and no such metric exists")
		}
	}
	return bad
}

// What is checked above can fail.
func TestProblems(t *testing.T) {
	all := map[string]map[string]bool{}
	addMetrics(all, "# HELP urlfold_x Something.\n# TYPE urlfold_x counter\nurlfold_x{a=\"1\",b=\"}\\\"\"} 2\n")
	if len(all) != 1 || len(all["urlfold_x"]) != 4 || !all["urlfold_x"]["b"] {
		t.Fatalf("%v", all)
	}
	f := func(query, text string, want int) {
		t.Helper()
		if got := problems(all, query, text); len(got) != want {
			t.Errorf("%s: %q, want %d problems", query, got, want)
		}
	}
	f(`sum by (a, instance) (rate(urlfold_x{b=~"c"}[5m]))`, "{{ $labels.a }} {{instance}}", 0)
	f(`up{job="urlfold"} == 0`, "{{ $labels.instance }}", 0)
	f(`urlfold_y`, "", 1)
	f(`urlfold_x{c="1"}`, "", 1)
	f(`sum by (c) (urlfold_x)`, "", 1)
	f(`sum by (a) (urlfold_x)`, "{{b}}", 1)
	f(`vector(1)`, "", 1)
}

// A metric about loss needs an alert or a reason.
func TestUnalerted(t *testing.T) {
	help := helps("# HELP urlfold_a_total Records that were lost.\n# HELP urlfold_dropped_total Messages.\n# HELP urlfold_b Time.\nurlfold_b 1\n")
	f := func(queries string, reasons map[string]string, want int) {
		t.Helper()
		if got := unalerted(help, queries, reasons); len(got) != want {
			t.Errorf("%q, %q: %q, want %d problems", queries, reasons, got, want)
		}
	}
	f("urlfold_a_total > 0 or urlfold_dropped_total > 0", nil, 0)
	f("urlfold_a_total > 0", map[string]string{"urlfold_dropped_total": "as it is meant"}, 0)
	f("urlfold_b > 0", nil, 2)
	f("urlfold_a_total > 0", map[string]string{"urlfold_dropped_total": ""}, 1)
	f("urlfold_a_total + urlfold_dropped_total", map[string]string{"urlfold_b": "no loss", "urlfold_c": "gone"}, 2)
}

// Prometheus scrapes what compose.yaml runs, by the rules that are there.
func TestPrometheus(t *testing.T) {
	var p promConfig
	decode(t, "prometheus/prometheus.yaml", &p)
	c := loadCompose(t)
	for _, name := range p.RuleFiles {
		exists(t, filepath.Join("prometheus", name))
	}
	if len(p.ScrapeConfigs) != 1 || p.ScrapeConfigs[0].Job != "urlfold" || len(p.RuleFiles) != 1 {
		t.Fatalf("%+v", p)
	}
	for _, s := range p.ScrapeConfigs[0].Static {
		for _, target := range s.Targets {
			name, port, _ := strings.Cut(target, ":")
			if listen := c.Services[name].Environment["URLFOLD_ADMIN"]; listen != "0.0.0.0:"+port {
				t.Errorf("%s listens on %q", target, listen)
			}
		}
	}
}
