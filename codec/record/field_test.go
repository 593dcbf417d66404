package record_test

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	internal "github.com/urlfold/urlfold/internal/record"
)

// TestFieldText: fields are stored by name, since their numbers can change.
func TestFieldText(t *testing.T) {
	in := []record.Field{record.FieldURL, record.FieldShape}
	text, err := json.Marshal(in)
	if string(text) != `["url","shape"]` || err != nil {
		t.Fatalf("%s, %v", text, err)
	}
	var out []record.Field
	if err := json.Unmarshal(text, &out); err != nil || len(out) != 2 || out[1] != in[1] {
		t.Errorf("%v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`["urll"]`), &out); err == nil || !strings.Contains(err.Error(), `did you mean "url"`) {
		t.Errorf("%v", err)
	}
	if _, err := json.Marshal(record.Field(255)); err == nil {
		t.Error("an invalid field has a name")
	}
}

// TestFieldConstants: each output field has a constant, in the order of the fields.
func TestFieldConstants(t *testing.T) {
	text, err := os.ReadFile("field.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\tField\w+ .*// (\w+)$`).FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	for i, name := range internal.FieldNames() {
		if i >= len(names) || names[i] != name {
			t.Fatalf("the output field %s has no constant at place %d of field.go", name, i)
		}
	}
}

// TestTargetText: a target is stored by name.
func TestTargetText(t *testing.T) {
	for want, target := range map[string]record.Target{`"request"`: record.TargetRequest, `"referer"`: record.TargetReferer, `"all"`: record.TargetAll} {
		text, err := json.Marshal(target)
		got := record.Target(9)
		if err := json.Unmarshal(text, &got); string(text) != want || err != nil || got != target {
			t.Errorf("%v: %s, %v; read again: %v, %v", target, text, err, got, err)
		}
		if err != nil {
			t.Error(err)
		}
	}
	got := record.TargetAll
	if err := json.Unmarshal([]byte(`"requests"`), &got); err == nil || got != record.TargetAll {
		t.Errorf("an unknown name gives %v, %v", got, err)
	}
	if _, err := json.Marshal(record.Target(9)); err == nil {
		t.Error("an undefined target has a name")
	}
}

// TestDialects: each dialect has a name, and logs or tables take it.
func TestDialects(t *testing.T) {
	for d := range record.DialectNone + 1 {
		got := d + 1
		text, err := d.MarshalText()
		if err != nil || got.UnmarshalText(text) != nil || got != d {
			t.Errorf("%q, %v: read as %v", text, err, got)
		}
		job := record.Job{Format: "combined", Dialect: d}
		if d == record.DialectBackslash {
			job = record.Job{Format: "csv", URLField: "1", NoHeader: true, Dialect: d}
		}
		for _, err := range record.NewReader(strings.NewReader("http://h/\n"), &job).Records() {
			if err != nil {
				t.Errorf("%v: %v", d, err)
			}
		}
	}
	var wrong *codec.NameError
	if err := new(record.Dialect).UnmarshalText([]byte("ngnix")); !errors.As(err, &wrong) || wrong.Near != "nginx" {
		t.Errorf("%v", err)
	}
	if _, err := (record.DialectNone + 1).MarshalText(); err == nil {
		t.Error("an invalid dialect has a name")
	}
}

// TestTableCharacters: the delimiter and the quote of a table are characters.
func TestTableCharacters(t *testing.T) {
	for what, c := range map[string]struct {
		job  record.Job
		text string
	}{
		"semicolon, apostrophe": {record.Job{Delimiter: ';', Quote: '\''}, "1;'http://h/;'\n"},
		"tab, no quotes":        {record.Job{Delimiter: '\t', Quote: record.NoQuote}, "\"\thttp://h/;\n"},
		"backslash":             {record.Job{Escape: '\\'}, "1,\"http://h/;\"\n"},
	} {
		c.job.Format, c.job.URLField, c.job.NoHeader = "csv", "2", true
		for rec, err := range record.NewReader(strings.NewReader(c.text), &c.job).Records() {
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if norm, _ := rec.Field(record.FieldNorm); string(norm) != "http://h/;" {
				t.Errorf("%s: %q", what, norm)
			}
		}
	}
	for _, err := range record.NewReader(strings.NewReader("x"), &record.Job{Format: "csv", URLField: "1", Delimiter: '→'}).Records() {
		if err == nil || !strings.Contains(err.Error(), "record.Job.Delimiter: ") {
			t.Errorf("%v", err)
		}
	}
}
