package recordconf

import (
	"reflect"
	"testing"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/record"
)

// TestFillTakesAll checks that Fill takes each setting of a configuration: one that is
// added to config.Codec or config.Format and forgotten here fails.
func TestFillTakesAll(t *testing.T) {
	elsewhere := map[string]string{
		"Profile": "the normalizer has it", "Rules": "the normalizer has them", "Standard": "the normalizer has it", "Hash": "the normalizer has it",
		"HMACKey": "the normalizer has it", "QueryEncoding": "the normalizer has it", "MaxURL": "the normalizer has it",
		"Registry": "the daemon makes a client of it", "Reject": "config compiles it to Rejected", "Params": "config compiles them to Styles",
	}
	set := map[string]func(f *config.Format, c *config.Codec){
		"From": func(f *config.Format, c *config.Codec) { f.From = "csv" }, "Dialect": func(f *config.Format, c *config.Codec) { f.Dialect = "nginx" },
		"Delimiter": func(f *config.Format, c *config.Codec) { f.Delimiter = ";" }, "Quote": func(f *config.Format, c *config.Codec) { f.Quote = "'" },
		"MaxQuoted": func(f *config.Format, c *config.Codec) { f.MaxQuoted = 5 }, "MaxExpansion": func(f *config.Format, c *config.Codec) { c.MaxExpansion = 6 },
		"Escape": func(f *config.Format, c *config.Codec) { f.Escape = `\` }, "InputHeader": func(f *config.Format, c *config.Codec) { f.InputHeader = "no" },
		"Target": func(f *config.Format, c *config.Codec) { c.Target = "referer" }, "URLField": func(f *config.Format, c *config.Codec) { f.URLField = "u" },
		"URL": func(f *config.Format, c *config.Codec) { f.URL.Host = []string{"h"} }, "BaseField": func(f *config.Format, c *config.Codec) { f.BaseField = "b" },
		"Map": func(f *config.Format, c *config.Codec) { f.Map = map[string]string{"status": "sc"} }, "Base": func(f *config.Format, c *config.Codec) { f.Base = "http://h/" }, "Timezone": func(f *config.Format, c *config.Codec) { f.Timezone = "+02:00" }, "Scheme": func(f *config.Format, c *config.Codec) { c.Scheme = "http" },
		"Year": func(f *config.Format, c *config.Codec) { f.Year = 2026 }, "Key": func(f *config.Format, c *config.Codec) { c.Key = "syntax" },
		"KeyFormat": func(f *config.Format, c *config.Codec) { c.KeyFormat = "base32" }, "Render": func(f *config.Format, c *config.Codec) { c.Render.Form = "jsonl" },
		"Redact": func(f *config.Format, c *config.Codec) { c.Redact = []string{"email"} }, "MaxRecord": func(f *config.Format, c *config.Codec) { c.MaxRecord = 7 },
		"Secrets": func(f *config.Format, c *config.Codec) { c.Secrets = []string{"t"} }, "Repairs": func(f *config.Format, c *config.Codec) { c.Repairs = []string{"percent-u"} },
	}
	filled := func(change func(*config.Format, *config.Codec)) record.Config {
		f, c := config.DefaultFormat(), config.Default().Codec
		rc := record.Config{Normalizer: Probe()}
		change(&f, &c)
		if err := Fill(&rc, &f, &c, "", nil); err != nil {
			t.Fatal(err)
		}
		rc.Charset, rc.Normalizer = nil, nil
		return rc
	}
	unset := filled(func(*config.Format, *config.Codec) {})
	for _, f := range append(reflect.VisibleFields(reflect.TypeFor[config.Codec]()), reflect.VisibleFields(reflect.TypeFor[config.Format]())...) {
		change := set[f.Name]
		switch {
		case !f.IsExported() || elsewhere[f.Name] != "":
		case change == nil:
			t.Errorf("%s has no value in this test", f.Name)
		case reflect.DeepEqual(filled(change), unset):
			t.Errorf("Fill does not take %s", f.Name)
		}
	}
}
