// Package file contains two sources. With package pipeline, use [Read]; the rest of
// the package serves the daemon. A [Source] reads files, directories,
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
// Not covered by the stability page.
package file

// The files of this package:
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
