// Package checkpoint stores the positions of all file sources of a process, and
// with it how long the outputs of its sinks are, so that a restart continues where
// the durable records end.
//
// # On disk
//
// The data directory holds
//
//	lock               held while a Store is open: one process at a time
//	checkpoint         a snapshot: the whole state at one moment
//	checkpoint.log     the commits since then
//	checkpoint.1       the snapshot before it
//	checkpoint.1.log   the commits between the two snapshots
//	checkpoint.bad, checkpoint.log.bad   damaged files, kept for inspection
//	restart/ID         restart points of compressed inputs, which entries name
//
// One commit is one record at the end of the log, written with one write and made
// durable with one fsync, however many files there are. It holds the positions
// that have changed and the output extents that have changed, which is what
// exactly once needs: both take effect or neither does.
//
// # Form
//
// Snapshots and logs begin with a line of text that names the version, and are
// frames after that: a length, the generation of the file, a sequence number, a
// checksum and a payload (frame.go). The payload is typed sections (change.go). An
// entry or an extent is a line of JSON in a section (line.go); a text that is not
// UTF-8, as a path may be, is written as "base64:" and its bytes in base64.
//
// The first frame of a file is its header. A log says in its header which state its
// snapshot is: generation g after n commits. That is what chains generations: the
// snapshot of one, and the logs since, rebuild any later state.
//
// A section of an unknown type from 128 on is kept and written to later snapshots;
// one below, an unknown key of an entry, and a later version in a header make Open
// fail, because a program that skips them could lose records.
//
// # Loading
//
// The loader reads all four files and goes by their generations, not by their
// names. It takes the newest snapshot that is whole, applies the commits of its
// log, and continues with the log of the next generation if that log says that it
// begins where the last commit was. It stops at the first commit that is missing or
// damaged, and [Store.Warnings] says what is read again: no commit after a gap
// counts. An incomplete frame at the end of a log was never acknowledged, and is
// discarded.
//
//	what is wrong                         what a restart finds
//	checkpoint missing or damaged         the last commit: snapshot and log before it, and the log
//	end of checkpoint.log torn            the last complete commit
//	a bit flipped inside checkpoint.log   the commit before the damage
//	checkpoint.log missing                the snapshot
//	both snapshots damaged                nothing: everything is read from its beginning
//
// # Compaction
//
// When the log is longer than the snapshot, and than 1 MiB, a new generation
// begins, as it does with the first commit of a process: a log with a torn end is
// never appended to. The steps:
//
//	1  write checkpoint.new, the snapshot of generation g+1; fsync
//	2  write checkpoint.log.new, an empty log that follows g after n commits; fsync
//	3  link checkpoint.log as checkpoint.1.log, and checkpoint as checkpoint.1; fsync the folder
//	4  rename checkpoint.new to checkpoint; fsync the folder
//	5  rename checkpoint.log.new to checkpoint.log; fsync the folder
//	6  append commits to the new log
//
// A crash may leave any part of the changes of names that no fsync of the folder
// covers, in any order. Whatever it leaves is the state after n commits:
//
//	before 3 is durable   checkpoint and checkpoint.log are of g. What the links have
//	                      replaced was only needed if these were damaged.
//	before 4 is durable   checkpoint is of g, with its log beside it, or of g+1
//	before 5 is durable   checkpoint is of g+1. A checkpoint.log of g is older, and its
//	                      commits are part of the snapshot.
//	after 5               checkpoint and checkpoint.log are of g+1
//
// An error in steps 1 to 3 leaves the log of g in use. From step 4 on the log of g
// must not get another commit, since the snapshot of g+1 may hide it: the Store
// closes it, and needs a compaction to succeed before it accepts a commit.
//
// A copy of the folder takes each file at another moment, and a compaction may come
// between. A snapshot of g with a log of g+1 is completed by checkpoint.1.log, if
// that was copied after the compaction; else the header of the log shows that
// commits are missing, and the snapshot of g alone is used, with a warning.
//
// # Healing
//
// [Store.Keep] looks at the directory in every commit interval. Files of the checkpoint
// that were removed, replaced or cut are written again from memory. If the lock file
// is not the one that this process holds, another process may own the directory:
// the error is a [pipeline.LostError], and nothing is written any more.
//
// # Version 1
//
// Version 1 was one file with the whole state as lines of JSON, replaced by rename
// with every commit (legacy.go). It is read once and replaced by the first
// compaction.
package checkpoint
