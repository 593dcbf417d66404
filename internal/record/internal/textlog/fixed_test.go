package textlog

import (
	"bytes"
	"testing"
)

// TestIndexAt compares indexAt with bytes.Index.
func TestIndexAt(t *testing.T) {
	for _, text := range []string{"", " ", ">", "=>", " =>", " => ", "a => b => c", "a =>  => b", " = > => ", "[pid [pid: 1", "[pid: ", "[pid:", "f( (x", "( (", " ((", " ( ("} {
		for _, word := range [][]byte{pidWord, tookEnd, arrow} {
			for rare := range word {
				for pos := range len(text) + 1 {
					want := bytes.Index([]byte(text)[pos:], word)
					if want >= 0 {
						want += pos
					}
					if got := indexAt([]byte(text), pos, word, rare); got != want {
						t.Errorf("%q in %q from %d by %q: got %d, want %d", word, text, pos, word[rare], got, want)
					}
				}
			}
		}
	}
}
