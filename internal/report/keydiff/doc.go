// Package keydiff compares the keys of the same URLs under two profiles. It
// finds the groups of URLs with equal keys that a change of rules merges or
// splits, and the rules responsible. [Diff] collects pairs of keys while a
// pipeline runs; [Diff.Report] evaluates them; [WriteText] and [WriteJSON]
// write the report.
//
// [Collisions] finds the URLs that one profile gives the same key, and the rules
// responsible.
package keydiff
