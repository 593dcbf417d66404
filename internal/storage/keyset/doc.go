// Package keyset holds sets of 128-bit keys: which URLs have been seen. A set
// holds the newest keys in memory and, beyond its limit of memory, the others
// in sorted files, called runs. It never forgets a key.
//
//	Set ──▶ table   the newest keys, in memory, in order of their bits
//	    └─▶ runs    sorted files of blocks; a filter in memory answers most questions
//
// The design is a log-structured merge tree without values: a full table becomes a
// run, because it is in order already; runs of similar size are merged. A key
// costs about 20 bytes in a table. In a run, it costs about 14 bytes on disk and
// 1.2 bytes of memory for the filter and the index of blocks. A run has a stamp
// for each key, such as a day, which costs a byte more if they differ.
//
// Four types share the runs. Set ends with the process. Store keeps a set in a
// folder, with a manifest that names its runs. Folder works without a manifest:
// the caller stores the names of the runs, in one step with another state.
// Journal does the same, and adds many small groups of keys.
//
// Keys must be hashes, because tables and runs depend on evenly distributed bits.
// Two different URLs with the same 128-bit key count as one: expect the first such
// pair among some 2^64 URLs.
//
//	table/      keys in memory
//	run.go      the format of a run, its writer
//	lookup.go   a key in a run
//	merge.go    several runs into one
//	set.go      Set: table, runs, limits
//	folder.go   Folder: runs that survive the process; the caller stores their names
//	journal.go  Journal: small groups of keys, in the set when the caller has stored its state
//	store.go    Store: a set that is kept in a folder
//	manifest.go the names of the runs of a Store
//	temporary.go files that end with the process
package keyset

import "github.com/urlfold/urlfold/internal/storage/keyset/table"

// A Key is the 128-bit hash of a canonical string, as in codec.Key. The zero Key
// is not a member of any set.
type Key = table.Key

// KeyOf returns the key with the halves that [codec.Key.Uint64s] returns.
func KeyOf(hi, lo uint64) Key { return Key{Hi: hi, Lo: lo} }
