package s3

import (
	"strings"
	"testing"
)

// TestOrdered: only a source that polls can list its objects in order.
func TestOrdered(t *testing.T) {
	for mode, want := range map[string]string{modeBatch: "ordered: requires mode: poll", modePoll: ""} {
		c := Default()
		c.Include, c.Mode, c.Ordered = []string{"s3://bucket/logs"}, mode, true
		if err := c.Validate(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("mode %s: %v", mode, err)
		}
	}
}
