package main

import (
	"strconv"
	"testing"
)

// TestMutationsFit checks that the text that each mutation replaces occurs
// exactly once in its file. The experiment itself takes minutes and would
// detect moved code only late.
func TestMutationsFit(t *testing.T) {
	dir := t.TempDir()
	for i := range mutations {
		if _, err := mutations[i].Overlay("../../..", dir+"/"+strconv.Itoa(i)); err != nil {
			t.Error(err)
		}
	}
}
