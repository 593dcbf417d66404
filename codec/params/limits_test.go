package params

import (
	"fmt"
	"strings"
	"testing"
)

// TestLimits: too many rules, in one list or in all, and too many patterns for
// hosts are errors.
func TestLimits(t *testing.T) {
	var plain, rules strings.Builder
	for i := range MaxRules + 1 {
		fmt.Fprintf(&plain, "p%d\n", i)
	}
	for i := range 2000 {
		fmt.Fprintf(&rules, ",\"p%d\":{\"urlPattern\":\"^https?:\\\\/\\\\/[a-z]+%dx[0-9]+\\\\.example\",\"rules\":[\"a\"]}", i, i)
	}
	rules.WriteString(`,"last":{"urlPattern":"^https?:\\/\\/[a-z]+last[0-9]+\\.example","rules":["a"]}`)
	l, err := ParsePlain("l", "1", []byte(plain.String()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(l); err == nil || !strings.Contains(err.Error(), "more than 100000 rules") {
		t.Errorf("plain: %v", err)
	}
	l.Rules = l.Rules[:MaxRules]
	other := &List{Name: "other", Version: "1", Rules: l.Rules[:1]}
	if _, err := Compile(l, other); err == nil {
		t.Error("two lists share no limit")
	}
	if l, err = ParseClearURLs([]byte(`{"providers":{` + rules.String()[1:] + `}}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(l); err == nil || !strings.Contains(err.Error(), "host patterns") {
		t.Errorf("clearurls with %d rules, %d skipped: %v", len(l.Rules), len(l.Skipped), err)
	}
}
