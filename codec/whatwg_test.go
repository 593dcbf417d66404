package codec

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestWPT runs web-platform-tests' urltestdata.json: hrefs, components, failures.
func TestWPT(t *testing.T) {
	var raw []json.RawMessage
	corpusJSON(t, "whatwg/urltestdata.json", &raw)
	list := readExceptions(t, "wpt_urltestdata.txt")
	cases := 0
	for _, m := range raw {
		var c struct {
			Input                                                                      string
			Base                                                                       *string
			Href, Protocol, Username, Password, Hostname, Port, Pathname, Search, Hash string
			Failure                                                                    bool
			RelativeTo                                                                 string
		}
		if json.Unmarshal(m, &c) != nil {
			continue // a comment
		}
		cases++
		var r Result
		base := []byte(nil)
		if c.Base != nil {
			base = []byte(*c.Base)
		}
		got, err := browser.AppendRef(nil, base, []byte(c.Input), &r)
		name := c.Input + " " + string(base)
		if c.Failure {
			list.check(name, err != nil, "%q against %q: %q; want failure", c.Input, base, got)
			continue
		}
		if err != nil || string(got) != c.Href {
			list.check(name, false, "%q against %q: %q, %v; want %q", c.Input, base, got, err, c.Href)
			continue
		}
		if err := r.Out.Check(got); err != nil {
			t.Errorf("%q: %v", c.Input, err)
		}
		want := []string{c.Protocol, c.Username, c.Password, c.Hostname, c.Port, c.Pathname, c.Search, c.Hash}
		parts := wptParts(&r.Out, got)
		list.check(name, slices.Equal(parts, want), "%q against %q: %q, want %q", c.Input, base, parts, want)
	}
	list.done()
	if cases != 891 {
		t.Errorf("%d cases, not 891", cases)
	}
}

// wptParts returns the components as the URL class's getters give them
// (https://url.spec.whatwg.org/#url-class).
func wptParts(u *URL, b []byte) []string {
	part := func(c Component, before string) string {
		if u.Span(c).Len() == 0 {
			return ""
		}
		return before + string(u.Bytes(b, c))
	}
	path := string(u.Bytes(b, Path))
	if !u.HasAuthority() && strings.HasPrefix(path, "/.//") {
		path = path[2:] // the serializer's guard is no part of the path
	}
	return []string{part(Scheme, "") + ":", part(Username, ""), part(Password, ""), part(Host, ""), part(Port, ""), path, part(Query, "?"), part(Fragment, "#")}
}

// TestOracle runs what a browser-grade parser said of real inputs.
func TestOracle(t *testing.T) {
	total := 0
	for _, name := range []string{"archiveorg2008_refs", "crowdsec_logs", "crs_requests_even", "elastic_apache_logs", "isaacs_files", "kasztp", "open_redirect", "traversal"} {
		z, err := gzip.NewReader(bytes.NewReader(corpus(t, "oracle/"+name+".jsonl.gz")))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		bad := 0
		for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
			var c struct {
				Input   string
				Base    string
				Href    string
				Failure bool
			}
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			total++
			got, err := browser.AppendRef(nil, []byte(c.Base), []byte(c.Input), &r)
			if (err != nil) != (c.Href == "") || err == nil && string(got) != c.Href {
				if bad++; bad < 10 {
					t.Errorf("%s: %q against %q: %q, %v; want %q", name, c.Input, c.Base, got, err, c.Href)
				}
			}
		}
	}
	t.Logf("%d inputs", total)
}

// TestValidationErrors holds the names of validation errors to jsdom's, and
// their offsets to the input.
func TestValidationErrors(t *testing.T) {
	data := corpus(t, "vectors/jsdom-whatwg-url.jsonl")
	list := readExceptions(t, "jsdom_validation.txt")
	p := browser.profile
	p.MaxMarks = 1000
	n, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var c struct {
			In      string
			InB64   []byte `json:"in_b64"`
			Options struct{ Base string }
			Out     struct {
				Errors  []string
				Failure bool
			}
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if c.InB64 != nil {
			c.In = string(c.InB64)
		}
		var r Result
		_, err := n.AppendRef(nil, []byte(c.Options.Base), []byte(c.In), &r)
		var got []string
		for _, m := range r.Marks {
			if isValidationError(m.Flag) {
				got = append(got, m.Flag.String())
			}
			if int(m.At) > len(c.In) {
				t.Errorf("%q: %v at %d", c.In, m.Flag, m.At)
			}
		}
		slices.Sort(got)
		slices.Sort(c.Out.Errors)
		list.check(c.In+" "+c.Options.Base, slices.Equal(got, c.Out.Errors) && (err != nil) == c.Out.Failure,
			"%q against %q: %q, %v; jsdom %q", c.In, c.Options.Base, got, err, c.Out.Errors)
	}
	list.done()
}

// isValidationError reports whether f is one of the URL Standard's.
func isValidationError(f Flag) bool {
	return f >= DomainToASCII && f <= FileInvalidWindowsDriveLetterHost || f == HostMissing || f == PortInvalid
}
