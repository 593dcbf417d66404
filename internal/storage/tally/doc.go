// Package tally counts groups: how often each key occurs, with one example. A
// tally keeps its groups in memory and, beyond its limit of memory, in sorted
// temporary files, called runs. The counts are exact: no group is ever evicted.
//
//	worker 1 ──▶ Tally ──▶ table, runs ┐
//	worker 2 ──▶ Tally ──▶ table, runs ┴─▶ Merge ──▶ each group once
//
// A group costs about 44 bytes of memory besides the bytes of its key and its
// example.
//
//	table.go  groups in memory
//	run.go    sorted files
//	merge.go  Tally, Merge
package tally
