package record

import (
	"testing"

	"github.com/urlfold/urlfold/codec"
)

func TestRepair(t *testing.T) {
	f := func(r Repair, in, want string) {
		t.Helper()
		for _, name := range []string{"logclean", "equiv", "whatwg"} {
			n := newNormalizer(t, name)
			check(t, Config{Format: "lines", Repairs: r, Normalizer: n}, "http://h/"+in, "http://h/"+want)
			check(t, Config{Format: "combined", Repairs: r, Normalizer: n}, `h - - [t] "GET /`+in+` HTTP/1.1" 200 1`, `h - - [t] "GET /`+want+` HTTP/1.1" 200 1`)
		}
	}
	f(0, "%u00E9?%252F&amp;", "%u00E9?%252F&amp;")
	f(RepairPercentU, "%u00E9%u20AC%u002f?%u0026#%uD83D%uDE00", "%C3%A9%E2%82%AC%2F?%26#%F0%9F%98%80")
	f(RepairPercentU, "%u00E%U0041%uDE00%uD83D?%u", "%u00E%U0041%uDE00%uD83D?%u")
	f(RepairDouble, "a%252Fb?%2526", "a%2Fb?%26")
	f(RepairDouble, "a%252Fb%20?%2526&%", "a%252Fb%20?%2526&%") // not every '%' starts a %25XX
	f(RepairDouble, "%25252F?%252", "%25252F?%252")
	f(RepairEntity, "&amp;?a&amp;b&amp;amp;c#&amp;", "&?a&b&c#&")
	f(RepairEntity, "a?b&#38;c&#x26;d&AMP;e&#038;f&amp;#38;g", "a?b&c&d&e&f&g")
	f(RepairEntity, "a?b&ampc&#38c&bogus;&copy=1&;&#;", "a?b&ampc&#38c&bogus;&copy=1&;&#;") // no semicolon, no reference
	f(RepairEntity, "a&sol;b&quest;c&equals;d", "a/b?c=d")
	f(RepairEntity|RepairDouble, "?a&%2526amp;", "?a&%26amp;")
}

// TestRepairRounds checks that a repair applies to the results of other
// repairs.
func TestRepairRounds(t *testing.T) {
	c := Config{Format: "lines", Repairs: allRepairs, Normalizer: newNormalizer(t, "equiv")}
	check(t, c, "http://h/?a&%2561mp;b", "http://h/?a&b")
}

// TestRepairFields checks that keys and components are those of the repaired
// URL, but flags and diagnostics those of the input.
func TestRepairFields(t *testing.T) {
	f := func(fields, want string) {
		t.Helper()
		show(t, Config{Format: "lines", Repairs: allRepairs, Secrets: []string{"token"}}, "equiv", fields, "http://u:p@h/%u0041%zz?Tok%65n=x&t", want)
	}
	f("norm", "http://u:***@h/A%zz?Token=***&t")
	f("syntax", "http://u:***@h/A%25zz?Token=***&t")
	f("fetch", "http://h/A%25zz?Token=***&t")
	f("path", "/A%zz")
	f("change", "lossy")
	f("url", "http://u:***@h/%u0041%zz?Tok%65n=***&t")

	c := Config{Format: "lines", Repairs: allRepairs, Render: RenderJSONL, Fields: []string{"diagnostics", "change", "flags"}, Normalizer: newNormalizer(t, "whatwg")}
	check(t, c, "http://h/%u0041?%u00", `{"diagnostics":[{"flag":"percent-u","at":9,"component":"path","action":"replaced"},{"flag":"invalid-URL-unit","at":9,"component":"path","action":"kept"},`+
		`{"flag":"non-hex","at":16,"component":"query","action":"kept"},{"flag":"invalid-URL-unit","at":16,"component":"query","action":"kept"}],"change":"repaired","flags":["non-hex","percent-u","invalid-URL-unit"]}`+"\n")
}

// TestEntityLayer checks that character references are decoded before the URL is
// parsed, in every kind of record, and how that is reported.
func TestEntityLayer(t *testing.T) {
	c := Config{Format: "lines", Repairs: RepairEntity, Normalizer: newNormalizer(t, "equiv")}
	check(t, c, "https&#58;&#x2F;&#47;x.example&sol;?a=1&#38;b=2#c&amp;d", "https://x.example/?a=1&b=2#c&d")
	c.Format = "w3c"
	head := "#Fields: cs-uri-stem cs-uri-query sc-status\n"
	check(t, c, head+"/a&amp;b x=1&#38;y=2 200\n", head+"/a&b x=1&y=2 200\n")
	c.Format, c.Base = "combined", "https://x.example"
	check(t, c, `h - - [t] "GET /?a=\x26amp;b&amp;c HTTP/1.1" 200 1 "-" "x&amp;y"`, `h - - [t] "GET /?a=&b&c HTTP/1.1" 200 1 "-" "x&amp;y"`)
	c.Render, c.Fields = RenderJSONL, []string{"url", "norm", "change", "flags", "diagnostics", "record"}
	check(t, c, `h - - [t] "GET /?a=\x26amp;b&&#38;c HTTP/1.1" 200 1 "-" "-"`,
		`{"url":"/?a=&b&&c","norm":"https://x.example/?a=&b&&c","change":"repaired","flags":["html-entity","empty-pair"],"diagnostics":[`+
			`{"flag":"html-entity","at":4,"record_at":19,"component":"query","action":"replaced"},{"flag":"empty-pair","at":7,"record_at":29,"component":"query","action":"kept"}],`+
			`"record":"h - - [t] \"GET /?a=\\x26amp;b&&#38;c HTTP/1.1\" 200 1 \"-\" \"-\""}`+"\n")
	c.Format, c.Base, c.Fields = "lines", "", []string{"norm"}
	check(t, c, "https://x.example:&#56;z/", `{"error":"port-invalid","at":19}`+"\n")
}

func TestSecrets(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		check(t, Config{Format: "lines", Secrets: []string{"Token", "a b"}, Normalizer: newNormalizer(t, "equiv")}, in, want)
	}
	f("http://u:p@h/token=1", "http://u:***@h/token=1")
	f("http://h/?a=1&TOKEN=1=2&token&token=", "http://h/?a=1&TOKEN=***&token&token=***")
	f("http://h/?a+b=1&a%20b=2&xtoken=3", "http://h/?a+b=***&a%20b=***&xtoken=3")
	f("http://h/#token=1&x=2", "http://h/#token=***&x=2")
	f("http://h/#/login?token=1", "http://h/#/login?token=***")
	f("mailto:a?token=1", "mailto:a?token=***")

	key := func(in string) string {
		out, _, _ := runJob(t, newJob(t, Config{Format: "lines", Secrets: []string{"token"}, Render: RenderKeys, Normalizer: newNormalizer(t, "equiv"), Level: codec.LevelEquivalent}), []byte(in))
		return string(out)
	}
	if a, b := key("http://h/?token=1"), key("http://h/?token=2"); a != b {
		t.Errorf("keys depend on secrets: %s %s", a, b)
	}
}
