package recordconf

import (
	"reflect"
	"testing"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/record"
)

// TestFillTakesAll checks that Fill takes each setting of a configuration: one that is
// added to config.Codec and forgotten here fails.
func TestFillTakesAll(t *testing.T) {
	elsewhere := map[string]string{
		"Profile": "the normalizer has it", "Rules": "the normalizer has them", "Standard": "the normalizer has it", "Hash": "the normalizer has it",
		"HMACKey": "the normalizer has it", "QueryEncoding": "the normalizer has it", "MaxURL": "the normalizer has it",
		"Registry": "the daemon makes a client of it", "Reject": "config compiles it to Rejected", "Params": "config compiles them to Styles",
	}
	set := map[string]func(c *config.Codec){
		"Format": func(c *config.Codec) { c.Format = "csv" }, "Dialect": func(c *config.Codec) { c.Dialect = "nginx" },
		"Delimiter": func(c *config.Codec) { c.Delimiter = ";" }, "Quote": func(c *config.Codec) { c.Quote = "'" },
		"MaxQuoted": func(c *config.Codec) { c.MaxQuoted = 5 }, "MaxExpansion": func(c *config.Codec) { c.MaxExpansion = 6 },
		"Escape": func(c *config.Codec) { c.Escape = `\` }, "NoHeader": func(c *config.Codec) { c.NoHeader = true },
		"Target": func(c *config.Codec) { c.Target = "referer" }, "URLField": func(c *config.Codec) { c.URLField = "u" },
		"URL": func(c *config.Codec) { c.URL.Host = []string{"h"} }, "BaseField": func(c *config.Codec) { c.BaseField = "b" },
		"Map": func(c *config.Codec) { c.Map = map[string]string{"status": "sc"} }, "Base": func(c *config.Codec) { c.Base = "http://h/" }, "Timezone": func(c *config.Codec) { c.Timezone = "+02:00" }, "Scheme": func(c *config.Codec) { c.Scheme = "http" },
		"Year": func(c *config.Codec) { c.Year = 2026 }, "Key": func(c *config.Codec) { c.Key = "syntax" },
		"KeyFormat": func(c *config.Codec) { c.KeyFormat = "base32" }, "Render": func(c *config.Codec) { c.Render.Form = "jsonl" },
		"Redact": func(c *config.Codec) { c.Redact = []string{"email"} }, "MaxRecord": func(c *config.Codec) { c.MaxRecord = 7 },
		"Secrets": func(c *config.Codec) { c.Secrets = []string{"t"} }, "Repairs": func(c *config.Codec) { c.Repairs = []string{"percent-u"} },
	}
	filled := func(change func(c *config.Codec)) record.Config {
		c := config.Default().Codec
		rc := record.Config{Normalizer: Probe()}
		change(&c)
		if err := Fill(&rc, &c, "", nil); err != nil {
			t.Fatal(err)
		}
		rc.Charset, rc.Normalizer = nil, nil
		return rc
	}
	unset := filled(func(*config.Codec) {})
	for _, f := range reflect.VisibleFields(reflect.TypeFor[config.Codec]()) {
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
