package config

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/urlfold/urlfold/codec"
)

// validator returns a function that checks a document against the schema.
func validator(t *testing.T) func(text string) error {
	t.Helper()
	data, err := Schema(doubles())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urlfold.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("urlfold.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(doc)
	}
}

// TestSchema checks that the schema takes what Parse takes, and refuses what it
// can see is wrong.
func TestSchema(t *testing.T) {
	validate := validator(t)
	good := func(text string) {
		t.Helper()
		if err := validate(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Parse("c", []byte(text), doubles(), testEnv()); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, name := range []string{"defaults", "analytics", "frontier", "cleanup"} {
		good(load(t, name+".yaml").String())
		data, err := os.ReadFile("testdata/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		// The library that turns YAML into JSON has the same fault that
		// joinColons repairs.
		text := strings.ReplaceAll(string(data), "[kafka-1:9092]", "['kafka-1:9092']")
		good(strings.ReplaceAll(text, "[nats://n1:4222]", "['nats://n1:4222']"))
	}
	good(minimal + "workers: '${N}'\ncommit_interval: '${N}s'\nbatch: {size: 8192}\norder: '${NONE:-none}'")
	bad := func(text string) {
		t.Helper()
		if err := validate(text); err == nil {
			t.Errorf("the schema takes %s", text)
		}
		if _, err := Parse("c", []byte(text), doubles(), testEnv()); err == nil {
			t.Errorf("Parse takes %s", text)
		}
	}
	bad("version: 1")
	for _, text := range []string{"version: 2", "sink: []", "workers: -1", "workers: four", "order: both",
		"batch: {size: 1x}", "commit_interval: 5", "batch: {linger: -1s}", "admin: {pprof: 1}", "admin: []",
		"dead_letter: {}", "dead_letter: {kafak: {}}", "dead_letter: {kafka: {}}", "dead_letter: {file: {path: [a]}}",
		"dead_letter: {file: {on_finish: kept}}", "dead_letter: {file: {on_finish: {}}}", "dead_letter: {file: {name: 'a b'}}",
		"tests: [{same_key: [a]}]", "tests: [{url: a, norm: b, key: k4}]", "dead_letter: {kafka: {brokers: [a], topic: a, weights: {a: -1}}}",
		"dead_letter: {file: {}, kafka: {brokers: [a], topic: b}}", "data_dir: ''"} {
		bad(minimal + text)
	}
}

// TestSchemaTexts checks that descriptions, defaults and the order are there.
func TestSchemaTexts(t *testing.T) {
	data, err := Schema(Types{})
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties map[string]struct {
			Description string
			AnyOf       []map[string]any
			Properties  map[string]struct{ Default any }
		}
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	p := s.Properties["batch"].Properties
	same(t, "description", s.Properties["workers"].Description, "The number of workers. 0 means one per CPU.")
	same(t, "default", p["linger"].Default, any("50ms"))
	same(t, "default", p["size"].Default, any("128KiB"))
	same(t, "maximum", s.Properties["workers"].AnyOf[0]["maximum"], any(1024.0))
	if i, j := bytes.Index(data, []byte(`"version"`)), bytes.Index(data, []byte(`"tests"`)); i < 0 || j < i {
		t.Error("the order of the keys is not that of the struct")
	}
}

// TestSchemaMistakes has structs that break the rules for configuration
// structs.
func TestSchemaMistakes(t *testing.T) {
	f := func(config any, want string) {
		t.Helper()
		types := Types{Sources: map[string]func() any{"x": func() any { return config }}}
		if _, err := Schema(types); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v, want %s", config, err, want)
		}
		_, err := Parse("c", []byte("sources: [x: {a: 1}]\nsinks: []"), types, Env{})
		if _, isName := config.(*struct {
			A int `yaml:"a" min:"x"`
		}); !isName && (err == nil || !strings.Contains(err.Error(), "BUG: unsupported configuration")) {
			t.Errorf("%T: %v", config, err)
		}
	}
	f(3, "not a pointer to a struct")
	f(&struct {
		A any `yaml:"a"`
	}{}, "unsupported type interface {}")
	f(&struct {
		A chan int `yaml:"a"`
	}{}, "unsupported type chan int")
	f(&struct {
		A int `yaml:"a,omitempty"`
	}{}, "invalid tag")
	f(&struct {
		A int `yaml:"a"`
		B int `yaml:"a"`
	}{}, "duplicate key a")
	f(&struct {
		A int `yaml:"a" min:"x"`
	}{}, `bound "x" is not a valid int`)
	f(&struct{ *tlsConfig }{}, "is not a struct")
	if _, err := Schema(Types{Sinks: map[string]func() any{"x": func() any { return &recursive{} }}}); err == nil || !strings.Contains(err.Error(), "recursive struct") {
		t.Errorf("%v", err)
	}
}

type recursive struct {
	// More of it.
	A *recursive `yaml:"a"`
}

// TestEnums checks that the names in tags are those of the codec.
func TestEnums(t *testing.T) {
	for _, f := range []struct {
		field string
		names []string
	}{
		{"Key", []string{codec.LevelSyntax.String(), codec.LevelEquivalent.String(), codec.LevelFetch.String(), codec.LevelPage.String(), codec.LevelMatch.String(), codec.LevelShape.String()}},
		{"Standard", []string{codec.RFC3986.String(), codec.WHATWG.String()}},
		{"KeyFormat", []string{codec.KeyHex.String(), codec.KeyBase32.String()}},
		{"Repairs", []string{codec.FlagPercentU.String(), codec.FlagDoubleEncoded.String(), codec.FlagHTMLEntity.String()}},
		{"Hash", []string{codec.XXH3.String(), codec.SHA256.String(), codec.HMACSHA256.String()}},
	} {
		fields, err := fieldsOf(reflect.TypeFor[Codec]())
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range fields {
			if strings.HasSuffix(g.source, "."+f.field) {
				same(t, f.field, g.rules.enum, f.names)
			}
		}
	}
}

// TestReference checks that the page begins with what the program says.
func TestReference(t *testing.T) {
	want, err := Reference(Types{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/reference/config.md")
	if err != nil || !bytes.HasPrefix(page, want) {
		t.Errorf("docs/reference/config.md is not what the structs of configuration say now (%v); it should begin with\n%s", err, want)
	}
	all, err := Reference(doubles())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"## Source kafka\n", "| `session_timeout` | duration, 1s to 5m | `45s` |", "| `on_finish.move_to` | string | required |", "| `on_finish` | `keep`, `delete` or mapping | `keep` |",
		"| `tls.ca_file` | string |", "| `brokers` | list of string, at least 1 | required |", "| `sasl.password` | secret string | required |"} {
		if !strings.Contains(string(all), row) {
			t.Errorf("no %s in\n%s", row, all)
		}
	}
}
