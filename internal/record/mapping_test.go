package record

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// TestAttributeNames: the names of attributes are those of the fields that show them, and
// the page lists all names of members and columns.
func TestAttributeNames(t *testing.T) {
	for f := range numFields {
		if canLack.has(f) && locate.AttrNames[attrOf(f)] != outputFields[f].Name {
			t.Errorf("field %s shows the attribute %s", outputFields[f].Name, locate.AttrNames[attrOf(f)])
		}
	}
	page, err := os.ReadFile("../../docs/reference/fields.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "## Members and columns as fields")
	text, _, _ = strings.Cut(text, "A dot stands for")
	for _, n := range new(locate.Settings).NamedFields() {
		name := locate.AttrNames[n.Attr]
		_, row, _ := strings.Cut(text, "\n| `"+name+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if !strings.Contains(row, "`"+n.Name+"`") {
			t.Errorf("docs/reference/fields.md: the row of %s lacks `%s`", name, n.Name)
		}
	}
}

// TestSpellings: names of members and columns are found as people write them.
func TestSpellings(t *testing.T) {
	for name, want := range map[string]string{
		"status_code":     "STATUS_CODE StatusCode status-code statusCode status_code",
		"client_ip":       "CLIENT_IP ClientIP ClientIp client-ip clientIP clientIp client_ip",
		"ip":              "IP Ip ip",
		"@timestamp":      "@TIMESTAMP @timestamp",
		"http.user_agent": "HTTP.USER_AGENT Http.UserAgent http.user-agent http.userAgent http.user_agent",
	} {
		got := locate.Spellings(name)
		if got[0] != name {
			t.Errorf("%s: the first spelling is %s", name, got[0])
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
	}
	for _, column := range []string{"Status Code", "status-code", "STATUS_CODE", "statusCode"} {
		if locate.Fold(column) != "statuscode" {
			t.Errorf("%s is folded to %s", column, locate.Fold(column))
		}
	}
	for name, unit := range map[string]int8{"took": 0, "took_ms": 3, "tookMs": 3, "took.us": 6, "took-ns": 9, "TOOK_MS": 3, "items": 0, "ms": 3, "": 0, "took_millis": 3} {
		c := locate.Settings{Map: map[string]string{"duration": name}}
		if got := c.NamedFields()[0].Unit; got != unit {
			t.Errorf("%s has the unit %d, want %d", name, got, unit)
		}
	}
}
