package record

import "testing"

// TestLineByLine: formats whose lines depend on others, or are not records, say
// so.
func TestLineByLine(t *testing.T) {
	not := map[string]bool{"html": true, "sitemap": true, "feed": true, "mail": true, "text": true, "warc": true, "arc": true, "journal-export": true, "wat": true, "msgpack": true, "protobuf": true, "w3c": true, "zeek": true, "cdx": true, "gcs": true,
		"azure-front-door": true, "azure-app-gateway": true, "azure-storage": true, "azure-key-vault": true, "json": true}
	for _, format := range Formats() {
		c := Config{Format: format, Normalizer: newNormalizer(t, "equiv"), Render: RenderURLs}
		switch format {
		case "jsonl", "json", "csv", "csv-semicolon", "csv-pipe", "tsv", "msgpack", "protobuf":
			c.URLField = "1"
		case "journal-export":
			c.URLField = "URL"
		case "avro":
			continue // needs schemas
		}
		j, err := New(c)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if j.LineByLine() == not[format] {
			t.Errorf("%s: %v", format, j.LineByLine())
		}
	}
	j, err := New(Config{Format: "csv", URLField: "url", Normalizer: newNormalizer(t, "equiv")})
	if err != nil || j.LineByLine() {
		t.Errorf("a table with a header: %v", err)
	}
}

// TestHeaded: the jobs that copy headers or directives say so.
func TestHeaded(t *testing.T) {
	f := func(want bool, c Config) {
		t.Helper()
		c.Normalizer = newNormalizer(t, "equiv")
		j, err := New(c)
		if err != nil || j.Headed() != want {
			t.Errorf("%s, %v: %v, %v", c.Format, c.Render, j.Headed(), err)
		}
	}
	for _, format := range []string{"w3c", "zeek", "cdx", "gcs"} {
		f(true, Config{Format: format})
		f(false, Config{Format: format, Render: RenderJSONL})
	}
	for _, format := range []string{"csv", "csv-semicolon", "csv-pipe", "tsv"} {
		f(true, Config{Format: format, URLField: "url"})
		f(false, Config{Format: format, URLField: "1", NoHeader: true})
		f(false, Config{Format: format, URLField: "url", Render: RenderURLs})
	}
	for _, format := range []string{"lines", "combined", "html"} {
		c := Config{Format: format}
		if format == "html" {
			c.Render = RenderURLs
		}
		f(false, c)
	}
}
