package main

import (
	"fmt"
	"slices"
	"strings"
)

// choice returns the index of name in names. The error suggests a name that is
// near, or lists them all.
func choice(what string, names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	if near := nearest(names, name); near != "" {
		return 0, fmt.Errorf("there is no %s %q; did you mean %s?", what, name, near)
	}
	return 0, fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(names, ", "))
}

// nearest returns the name that name was most likely meant to be, or "". Two
// changed letters are too many for a short name.
func nearest(names []string, name string) string {
	best, bestDist := "", min(2, len(name)/3)+1
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < bestDist {
			best, bestDist = n, d
		}
	}
	return best
}

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
