// Package suggest finds the name that a user most likely meant to type.
package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// Index returns the index of name in names. If name is not among them, the
// error suggests the nearest name or, if none is near, lists all of them. what
// says what the names stand for, such as "profile".
func Index(what string, names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	if near := Nearest(names, name); near != "" {
		return 0, fmt.Errorf("unknown %s %q (did you mean %q?)", what, name, near)
	}
	return 0, fmt.Errorf("unknown %s %q (must be one of: %s)", what, name, strings.Join(names, ", "))
}

// Nearest returns the element of names that is most similar to name, or "" if
// none is similar enough. The allowed distance is a third of the length of
// name, and at most 2. Case is ignored.
func Nearest(names []string, name string) string {
	if len(name) > maxName {
		return "" // no name is that long, and distance takes quadratic time
	}
	best, bestDist := "", min(2, len(name)/3)+1
	for _, n := range names {
		if max(len(n)-len(name), len(name)-len(n)) >= bestDist {
			continue // at least as many bytes are missing, and n can be very long
		}
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < bestDist {
			best, bestDist = n, d
		}
	}
	return best
}

// maxName is the length of the longest name that Nearest compares, in bytes.
const maxName = 64

// distance returns the optimal string alignment distance of a and b: the least
// number of insertions, deletions, replacements and swaps of adjacent bytes that
// turn a into b, if no byte is edited twice.
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
