// Package keydiff compares the keys of the same URLs under two profiles: which
// groups of URLs with one key a change of rules merges, which it splits, and by
// which rules. [Diff] collects the pairs of keys while a pipeline runs;
// [Diff.Report] judges them, and [WriteText] and [WriteJSON] write the report.
package keydiff
