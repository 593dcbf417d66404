package main

import (
	"strconv"
	"testing"
)

// TestMutationsFit: what each mutation changes stands in its file, once. The experiment
// itself takes minutes, and would be the last to notice that code has moved.
func TestMutationsFit(t *testing.T) {
	dir := t.TempDir()
	for i := range mutations {
		if _, err := mutations[i].Overlay("../..", dir+"/"+strconv.Itoa(i)); err != nil {
			t.Error(err)
		}
	}
}
