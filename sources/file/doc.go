// Package file contains two sources. A [Source] reads files, directories,
// globs, pipes and stdin, compressed or not, each once from beginning to end.
// [NewWatcher] returns the source of a daemon: it finds new files, follows
// files as they grow and rotate, and resumes at the stored position after a
// restart.
//
// # Source
//
// Each input is a lane. Lanes are opened in the order of the inputs: arguments
// in the given order, the files of a glob or a directory sorted by path. One
// goroutine reads a lane: it decompresses into the arena of a batch, cuts after
// the last whole record and carries the rest over to the next batch:
//
//	stream   r e c o r d \n r e c o r d \n r e c
//	batch    [ tail of the previous batch | newly read ......... ]
//	emitted  [ whole records ............................. ]
//	                                                  tail [ r e c ]
//
// # Damage
//
// An input that is damaged or cannot be opened ends its own lane only. All whole
// records before the damage are emitted. An incomplete record at a cut is not emitted;
// [Report] gives its length. Call [Source.Reports] when the run is over to get the
// results.
//
// # Long records
//
// A record longer than [Config.MaxRecord] is emitted in pieces, so that memory
// stays bounded. It ends at the next line feed, even inside quotes. A quoted cell
// that does not end is damage of its line only: see record.QuoteFraming.
//
// # A part of the records
//
// [Config.Limit] ends the reading early, and [Config.Sample] emits a random sample once
// everything was read.
//
// # Pipes
//
// A separate goroutine reads ahead in any input that is not a regular file, so
// that a batch can be emitted when no data has arrived for [Config.Linger]. A
// soft stop abandons a goroutine that waits for stdin, because nothing can wake
// it; it ends with the process or when the next byte arrives.
//
// # Watcher
//
// A text is the decompressed content of a file. It keeps its identity when its
// file is renamed, copied or compressed, and has one lane for as long as it can
// be found. One goroutine polls, others read:
//
//	scan ──▶ by inode: known ──▶ renamed? grown? gone? ──▶ queue ──▶ readers ──▶ lanes
//	           │ not known                                   ▲
//	           ▼                                             │
//	         candidate ──▶ by content: copy of a file that is gone, of one that
//	                      still exists (wait), or new ────────┘
//
// Two hashes identify a text: the hash of its beginning, as far as it was
// emitted but at most fingerprint_bytes, and the hash of the last KiB before
// the position at which reading resumes. The second one distinguishes files
// that begin with the same header.
//
//	rotation            action
//	create, dateext     the inode has another name: keep reading it, for
//	                    rotate_wait
//	compress            hold the new file back while the old one exists; then its text
//	                    is the text of a file that is gone, and reading continues in it
//	copytruncate        hold the copy back; when the original turns out to hold another
//	                    text, the copy takes its place, and the part that was not yet
//	                    read is read from the copy
//
// A recently changed file that begins like another one is held back until it
// differs or has been unchanged for rotate_wait. That costs time, never a
// record.
//
// The watcher cannot detect:
//
//   - a file that is truncated between two polls and then grows so that exactly
//     the compared bytes are the same again,
//   - a file that appears and disappears between two polls,
//   - data written to a file between its copy and its truncation, which no
//     reader can see,
//   - the part of a truncated file that was not copied (counted in the lost
//     bytes metric).
//
// If a file is copied and truncated while no daemon runs, and the copy is
// shorter than what had been read, the copy is read again.
//
// An incomplete line waits for the rest, unless the file is known to be
// complete: rotated, compressed, in batch mode, or with UntilEOF. Positions
// always follow a whole record, except within a record that is longer than the
// limit.
//
// Reading resumes in a compressed file at a restart point, which lies at most
// restart_point_every plus one block before the position. Checksums are
// verified as if the file had been read in one go. A file that ends too early
// is assumed to be still being written until it has been unchanged for
// damage_after. A damaged file is not read again unless it changes.
//
// # Objects
//
// A watcher also reads objects of a bucket, because it reads an open object as it reads
// an open file. A storage lists and opens files; the storages for files and for objects
// identify a text in different ways. An object is complete when it appears, and its id,
// a hash of its key and its ETag, changes with its content. So the comparisons above
// are left out, and a request for an object that has changed fails instead of returning
// bytes of another text.
//
// # Files
//
//	config.go, source.go, expand.go                Source: files once; from paths to files
//	settings.go, stdin.go, pump.go                 the settings of a daemon; stdin
//	watch.go, poll.go, hints.go, watchstats.go     NewWatcher: files continuously, and what it
//	                                               counts
//	storage.go, bucket.go, stored.go               where files are: a file system, a bucket
//	scan.go, exclude.go, share.go                  which files there are
//	fileid_linux.go, fileid_other.go, rotated.go   what identifies a file; names after rotation
//	identify.go, bind.go, catalog.go               which file holds the text of which track
//	track.go, texthash.go, verify.go               how far a file was read, and whether it
//	                                               still holds that text
//	serve.go, crew.go                              readers and verifiers at work
//	open.go, stream.go, hold.go                    a file as a stream; text that was read too
//	                                               early
//	lane.go, length.go, openquote.go, grid.go,     from a stream to batches
//	split.go
//	archive.go                                     members of zip and tar archives
//	pick.go                                        the records of Config.Limit and Sample
//	index.go                                       indexes of gzip files
//	checkpoint.go, retire.go, finish.go,           what is stored; tracks at rest; finished
//	finished.go                                    files and objects
//	verified.go, quarantine.go, ondamage.go,       damaged files, and which records were
//	damaged.go                                     verified
//	reports.go, metrics.go                         what is reported and counted
//	door.go                                        a Source for programs outside this module
//
// Not covered by the stability page.
package file
