package cli

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// ofRunsAlone are the options that no configuration has, because they concern one run, its
// arguments or its terminal.
var ofRunsAlone = []string{
	"dry-run", "fail-on", "force", "help", "color", "in-place", "index", "line-buffered", "lock-step",
	"limit", "preserve", "progress", "quiet", "resume", "sample", "shard-by", "skip-unknown", "sort", "summary", "temp-dir",
}

// otherKeys are the options that a configuration has in another form: what, and why.
var otherKeys = map[string]struct{ keys, why string }{
	"dedupe-url":    {"dedupe.url", "a section holds the settings of dedupe"},
	"hmac-key-file": {"codec.hmac_key", "${file:PATH} reads any value from a file"},
	"rule":          {"codec.rules.add codec.rules.remove", "the option has signs, and is repeatable"},
	"param-style":   {"codec.params", "a list of declarations"},
	"log-level":     {"log.level", "a section holds the settings of the log"},
	"output":        {"sinks", "a sink has a type"},
	"output-dir":    {"sinks", "the path of a sink is a template"},
	"s3":            {"sources sinks", "a source or sink names its bucket"},
}

// tableRow is a row of a table of keys.
var tableRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]*)\\|")

// TestNamesOfOptions checks that an option and a key of configurations that are the same
// have the same word, or a reason why not, and that values have hyphens on both sides.
func TestNamesOfOptions(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "config.md"))
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{} // with and without their sections
	for _, row := range tableRow.FindAllStringSubmatch(string(page), -1) {
		path := strings.ReplaceAll(row[1], "[]", "")
		keys[path], keys[path[strings.LastIndex(path, ".")+1:]] = true, true
		if value := regexp.MustCompile("`[a-z]+_[a-z_]+`").FindString(row[2]); value != "" && value != "`read_committed`" {
			t.Errorf("%s has the value %s: write it with hyphens", row[1], value)
		}
	}
	known := map[string]bool{}
	newRootCmd(nil).Flags().VisitAll(func(f *pflag.Flag) {
		known[f.Name] = true
		other, differs := otherKeys[f.Name]
		word := strings.ReplaceAll(f.Name, "-", "_")
		switch alone := slices.Contains(ofRunsAlone, f.Name); {
		case keys[word] && (alone || differs):
			t.Errorf("--%s is the key %s, so it needs no exception", f.Name, word)
		case !keys[word] && !alone && !differs:
			t.Errorf("--%s is no key %s", f.Name, word)
		}
		for key := range strings.FieldsSeq(other.keys) {
			if !keys[key] {
				t.Errorf("--%s: there is no key %s", f.Name, key)
			}
		}
	})
	for _, name := range slices.Concat(ofRunsAlone, slices.Collect(maps.Keys(otherKeys))) {
		if !known[name] {
			t.Errorf("--%s is no option", name)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[options]()) {
		option, _, _ := strings.Cut(f.Tag.Get("flag"), ",")
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option != "" && key != "" && strings.ReplaceAll(key, "_", "-") != option {
			t.Errorf("one setting has two names: --%s and %s", option, key)
		}
		if strings.Contains(f.Tag.Get("enum"), "_") {
			t.Errorf("--%s: values have hyphens: %s", option, f.Tag.Get("enum"))
		}
	}
}
