package record_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

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
