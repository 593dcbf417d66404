// Package checkpoint stores the positions of all file sources of a process
// together with the lengths of its sinks' outputs, so that a restart continues
// where the durable records end.
//
// # On disk
//
// The data directory holds
//
//	lock               held while a Store is open: one process at a time
//	checkpoint         a snapshot: the whole state at one moment
//	checkpoint.log     the commits since then
//	checkpoint.1       the previous snapshot
//	checkpoint.1.log   the commits between the two snapshots
//	checkpoint.bad, checkpoint.log.bad   damaged files, kept for inspection
//	restart/ID         restart points of compressed inputs, which entries name
//
// A commit appends one record to the log, with one write and one fsync, however
// many files there are. The record holds the positions and the output extents
// that changed. Exactly-once delivery needs both in one record: either both
// take effect or neither does.
//
// # Form
//
// Snapshots and logs begin with a line of text that names the version. Frames
// follow it: each has a length, the generation of the file, a sequence number,
// a checksum and a payload (frame.go). The payload is a list of typed sections
// (change.go). A section holds entries or extents, each as a line of JSON
// (line.go). A text that is not valid UTF-8, which a path may be, is written as
// "base64:" followed by its bytes in base64.
//
// The first frame of a file is its header. The header of a log names the state
// that its snapshot holds: generation g after n commits. This chains the
// generations: the snapshot of one generation and the logs written since then
// rebuild any later state.
//
// Sections of unknown types from 128 on are kept and written to later
// snapshots. Open fails on an unknown section type below 128, on an unknown key
// of an entry, and on a later version in a header, because a program that skips
// these could lose records.
//
// # Loading
//
// The loader reads all four files and identifies them by their generations, not
// by their names. It takes the newest intact snapshot, applies the commits of
// its log, and continues with the log of the next generation if that log's
// header says that it begins at the last commit. It stops at the first missing
// or damaged commit and ignores all later commits; [Store.Warnings] reports
// what will be read again. An incomplete frame at the end of a log was never
// acknowledged and is discarded.
//
//	failure                               state after a restart
//	checkpoint missing or damaged         the last commit: previous snapshot and log, and the log
//	end of checkpoint.log torn            the last complete commit
//	a bit flipped inside checkpoint.log   the commit before the damage
//	checkpoint.log missing                the snapshot
//	both snapshots damaged                none: everything is read from its beginning
//
// # Compaction
//
// A new generation begins when the log is longer than the snapshot and longer
// than 1 MiB. The first commit of a process also begins one, because a log with
// a torn end is never appended to. The steps:
//
//	1  write checkpoint.new, the snapshot of generation g+1; fsync
//	2  write checkpoint.log.new, an empty log that follows g after n commits; fsync
//	3  link checkpoint.log as checkpoint.1.log, and checkpoint as checkpoint.1; fsync the folder
//	4  rename checkpoint.new to checkpoint; fsync the folder
//	5  rename checkpoint.log.new to checkpoint.log; fsync the folder
//	6  append commits to the new log
//
// A crash may keep any subset of the renames and links that no fsync of the
// folder has covered, in any order. Every such subset loads as the state after
// n commits:
//
//	before 3 is durable   checkpoint and checkpoint.log have generation g. The files that
//	                      the links replaced were only needed if these two were damaged.
//	before 4 is durable   checkpoint has generation g, with its log, or g+1
//	before 5 is durable   checkpoint has generation g+1. A checkpoint.log of g is older, and
//	                      its commits are part of the snapshot.
//	after 5               checkpoint and checkpoint.log have generation g+1
//
// After an error in steps 1 to 3 the log of g stays in use. From step 4 on, the
// log of g must not receive another commit, since the snapshot of g+1 may hide
// it: the Store closes the log and accepts no commit until a compaction
// succeeds.
//
// A copy of the folder reads each file at a different moment, and a compaction
// may run in between. A snapshot of g with a log of g+1 is completed by
// checkpoint.1.log if that file was copied after the compaction. Otherwise the
// header of the log shows that commits are missing, and the loader uses the
// snapshot of g alone and warns.
//
// # Healing
//
// [Store.Keep] checks the directory in every commit interval. It restores
// checkpoint files that were removed, replaced or truncated, from memory.
// If the lock file is no longer the one that this process holds, another
// process may own the directory: Keep returns a [engine.LostError], and the
// Store writes nothing more.
//
// # Files
//
//	store.go, keep.go                 Store; who owns the folder
//	entry.go, change.go, lines.go     the state, and what a commit changes
//	frame.go, line.go, file.go, fs.go its form in files
//	load.go, compact.go               reading it; from log to snapshot
//	points.go                         restart points
//	takeover.go, inspect.go           entries that move; what a command shows
package checkpoint
