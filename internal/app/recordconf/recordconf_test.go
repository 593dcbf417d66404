package recordconf

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/record"
)

// fill returns the configuration of a job that f, c and a condition configure.
func fill(f config.Format, c config.Codec, where string) (rc record.Config, err error) {
	err = Fill(&rc, &f, &c, where, nil)
	return rc, err
}

// TestWords sets each setting to each of its words, and to one that does not exist.
func TestWords(t *testing.T) {
	for _, f := range []struct {
		field string
		words []string
		set   func(c *config.Codec, word string)
		got   func(c *record.Config) string
	}{
		{"Level", Levels(), func(c *config.Codec, w string) { c.Key = w }, func(c *record.Config) string { return c.Level.String() }},
		{"KeyForm", KeyFormats(), func(c *config.Codec, w string) { c.KeyFormat = w }, func(c *record.Config) string { return c.KeyForm.String() }},
		{"Target", names(record.TargetAll), func(c *config.Codec, w string) { c.Target = w }, func(c *record.Config) string { return c.Target.String() }},
		{"Render", Renders(), func(c *config.Codec, w string) { c.Render.Form = w }, func(c *record.Config) string { return c.Render.String() }},
	} {
		for _, word := range f.words {
			var s config.Codec
			f.set(&s, word)
			if c, err := fill(config.Format{}, s, ""); err != nil || f.got(&c) != word {
				t.Errorf("%s %s: %s, %v", f.field, word, f.got(&c), err)
			}
		}
		var s config.Codec
		f.set(&s, f.words[0]+"x")
		_, err := fill(config.Format{}, s, "")
		var e *record.ConfigError
		if !errors.As(err, &e) || e.Field != f.field || !strings.Contains(err.Error(), `did you mean "`+f.words[0]+`"?`) {
			t.Errorf("%s: %v", f.field, err)
		}
	}
}

// TestDefaults checks what the settings mean that a user does not write.
func TestDefaults(t *testing.T) {
	p, _ := codec.Lookup("crawler")
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	c := record.Config{Normalizer: n, Extend: []record.Extension{{Name: "u", Field: "norm"}}}
	err = Fill(&c, &config.Format{}, &config.Codec{Repairs: []string{" percent-u", "html-entitx"}}, "", nil)
	if c.Level != codec.LevelFetch || c.Render != record.RenderExtend || c.Repairs == 0 {
		t.Errorf("%+v", c)
	}
	var e *record.ConfigError
	if !errors.As(err, &e) || e.Field != "Repairs[1]" {
		t.Errorf("%v", err)
	}
}

// TestTags checks that the words in the tags of a configuration are these words.
func TestTags(t *testing.T) {
	accepted := func(err error) []string { // the words that the error about another one lists
		_, list, _ := strings.Cut(err.Error(), "(must be one of: ")
		list, _, _ = strings.Cut(list, ")")
		return strings.Split(list, ", ")
	}
	_, dialectErr := record.New(record.Config{Format: "combined", Dialect: "?", Normalizer: Probe()})
	_, repairErr := record.ParseRepair("?")
	for name, words := range map[string][]string{
		"Key": Levels(), "KeyFormat": KeyFormats(), "Standard": Standards(), "Hash": Hashes(), "Target": names(record.TargetAll),
		"Dialect": accepted(dialectErr), "Repairs": accepted(repairErr),
	} {
		f, ok := reflect.TypeFor[config.Codec]().FieldByName(name)
		if name == "Dialect" {
			f, ok = reflect.TypeFor[config.Format]().FieldByName(name)
		}
		if tag := strings.Split(f.Tag.Get("enum"), ","); !ok || !slices.Equal(tag, words) {
			t.Errorf("%s: the tag has %q, the table %q", name, tag, words)
		}
	}
	f, _ := reflect.TypeFor[config.Codec]().FieldByName("Render")
	// Render can also be a mapping with the fields to extend, so extend is
	// not a word. Parquet and Arrow need an output that is complete at the
	// end of a run.
	words := slices.DeleteFunc(Renders(), func(word string) bool { return word == "extend" || word == "parquet" || word == "arrow" })
	if tag := strings.Split(f.Tag.Get("enum"), ","); !slices.Equal(tag, words) {
		t.Errorf("Render: the tag has %q, the table %q", tag, Renders())
	}
}
