// Package file implements two sinks that write files. They share the code that
// locks, syncs and renames a file:
//
//   - [Output] is for a run that ends. It writes one file once, or an io.Writer
//     such as stdout. The caller of the run publishes or aborts the output.
//   - [NewLog] is for a daemon. It writes files whose paths come from a
//     template, one after the other or one for each input. It syncs them in
//     groups and, if configured, truncates them to the extents in the source's
//     checkpoint.
//
// # Output
//
// An Output writes to a temporary file in the same directory and renames it
// when the run is complete:
//
//	Open      creates and locks NAME.part; replaces the NAME.part of a crashed run
//	Submit    appends batches
//	Barrier   syncs NAME.part
//	Close     syncs NAME.part and stops writing
//	Publish   renames NAME.part to NAME and syncs the directory
//	Abort     keeps NAME.part for inspection
//
// The pipeline calls the first four. It cannot determine whether the run as a whole
// succeeded, so its caller calls [Output.Publish] after a run without an error and
// [Output.Abort] otherwise. NAME is not modified before the rename, so it never names
// an incomplete file.
//
// When an Output acknowledges a batch, it has written the batch or, if the
// output is compressed, gathered it in memory. The batch is durable only after
// a Barrier. When a log, the sink of NewLog, acknowledges a batch, the batch is
// durable.
//
// Not covered by the stability page.
package file

// The files of this package:
//
//	config.go, output.go, part.go                  Output: one file, published at the end
//	tree.go, divided.go                            Tree: one output for each input, or host
//	object.go, ship.go                             an output in a bucket; a log whose finished
//	                                               files become objects
//	logconfig.go, log.go, group.go                 NewLog: the files of a daemon, synced in
//	                                               groups
//	template.go, stream.go                         paths with variables, and the files of a
//	                                               path
//	recover.go, leftover.go                        what earlier processes left
//	sink.go, header.go, encoder.go                 writing a batch; what precedes the first
//	                                               one; files with an index
//	gather.go, members.go                          compressing an Output; a log
//	stdout.go                                      standard output
//	mode.go, writeback_linux.go,                   permissions; writing early
//	writeback_other.go
//	verify.go, unverified.go                       finished files; text that no checksum covers
//	metrics.go                                     what is counted
//	create.go                                      a log for programs outside this module
