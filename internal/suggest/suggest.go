// Package suggest finds the name that was most likely meant.
package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// Index returns the index of name in names. The error suggests the name that is
// near, or lists them all; what says what they name, such as "profile".
func Index(what string, names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	if near := Nearest(names, name); near != "" {
		return 0, fmt.Errorf("there is no %s %q; did you mean %s?", what, name, near)
	}
	return 0, fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(names, ", "))
}

// Nearest returns the name that name was most likely meant to be, or "". Two
// changed letters are too many for a short name.
func Nearest(names []string, name string) string {
	if len(name) > maxName {
		return "" // nothing is near, and the distance takes time
	}
	best, bestDist := "", min(2, len(name)/3)+1
	for _, n := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < bestDist {
			best, bestDist = n, d
		}
	}
	return best
}

// maxName is the longest name that is looked at, in bytes.
const maxName = 64

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours between a and b (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
