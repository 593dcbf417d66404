package archive

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// TestARCHeader checks which lines are URL records.
func TestARCHeader(t *testing.T) {
	for line, url := range map[string]string{
		"http://h/ 192.0.2.1 20260101000000 text/html 0":                             "http://h/",
		"http://h/ - 20260101000000 - 0":                                             "http://h/",
		"http://h/ 0.0.0.0 202601010000 text/html 0":                                 "http://h/",
		"http://h/ 0.0.0.0 20260101000000123 text/html 0":                            "http://h/",
		"http://h/x 192.0.2.1 20260101000000 y 192.0.2.2 20260101000000 text/html 0": "http://h/x 192.0.2.1 20260101000000 y",
		"view-source:http://h/ ::1 20260101000000 text/html 0":                       "view-source:http://h/",
		"http://h/ 192.0.2.1 20260101000000 text/html -1":                            "",
		"http://h/ 192.0.2.1 20260101000000 text/html abc":                           "",
		"http://h/ 192.0.2.1 20260101000000 text/html ":                              "",
		"http://h/ 192.0.2.1 20260101000000 text/html 99999999999999999999":          "",
		"http://h/ 192.0.2.1 2026 text/html 0":                                       "",
		"http://h/ h.example 20260101000000 text/html 0":                             "",
		"http: 192.0.2.1 20260101000000 text/html 0":                                 "",
		"http://h/": "",
		"/path 192.0.2.1 20260101000000 text/html 0":                    "",
		"1http://h/ 192.0.2.1 20260101000000 text/html 0":               "",
		strings.Repeat("s", 40) + ": ::1 20260101000000 text/html 0":    "",
		"http://h/" + strings.Repeat("x", 8192) + " ::1 2026010100 - 0": "",
	} {
		for _, end := range []string{"\n", "\r\n"} {
			h, state := readARCHeader([]byte(line + end))
			if (state == locate.HeaderSound) != (url != "") || state == locate.HeaderSound && string(h.url.In([]byte(line))) != url {
				t.Errorf("%.80q: state %d, URL %q", line, state, h.url.In([]byte(line+end)))
			}
		}
	}
}
