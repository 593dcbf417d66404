package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPage checks that the page of the fault experiments has a section for each, with
// its number.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/explanation/chaos.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range experiments {
		if heading := fmt.Sprintf("\n### %s (no. %s)\n", e.name, e.no); !strings.Contains(string(page), heading) {
			t.Errorf("no section %q", strings.TrimSpace(heading))
		}
	}
}
