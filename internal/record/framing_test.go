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
