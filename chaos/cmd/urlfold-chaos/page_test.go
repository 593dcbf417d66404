package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPage checks that the page of the fault experiments has a row for each, with its
// number.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/explanation/chaos.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range experiments {
		if row := fmt.Sprintf("\n| `%s` | %s |", e.name, e.no); !strings.Contains(string(page), row) {
			t.Errorf("no row %q", strings.TrimSpace(row))
		}
	}
}
