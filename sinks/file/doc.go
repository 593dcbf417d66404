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
//	Open      creates and locks NAME.part, and replaces a dead run's
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
// Done(nil) of an Output means that the batch was written or, if the output is
// compressed, gathered, not that it is durable; a Barrier makes it durable.
// Done(nil) of a log means that the batch is durable.
//
// # Log: groups
//
// Submit appends the batch to its file and returns. One goroutine performs
// rounds: it syncs every file that has unsynced data, and then answers the
// batches that these syncs cover. A round starts at regular intervals, and
// immediately when half of all batches wait, SyncBytes bytes wait, or a Barrier
// waits.
//
//	             synced                size
//	│ answered      │ pending              │      pending batches are in their arenas
//
// After a failed write, the sink truncates the file to synced and writes the pending
// batches again. It retries until that succeeds, first after 100 ms and then with a
// delay that doubles up to 5 s. After a failed sync, the system may have dropped the
// data that it could not write, without reporting it again. The sink therefore closes
// the file. Unless the disk was only full, it also abandons the file: it copies the
// synced part to a new file, reads it back, syncs it and renames it over the old one.
// In the meantime Submit and Barrier block, Health reports the file and the error, and
// no batch is answered.
//
// # Log: names
//
//	                      written to as     becomes NAME
//	{source.relpath} or   NAME.part         when its lane is finished (Finish), or rotation
//	{lane} in the path                      ends it
//	{seq} or {time}       NAME.part         when rotation ends it, or at Close
//	none of them          NAME              it is NAME from the start, and always grows
//
// So a file with a final name is finished and never modified again. The exception is a
// file that always grows. The sink does not overwrite an existing final name; it adds a
// number to the new one, as in access-2.log.zst. It creates directories as needed. It
// appends a line feed to a record that ends without one, as the last record of an input
// may, because another record may follow.
//
// # Log: after a crash
//
// Without ExactlyOnce, Open truncates a torn end. The torn end is everything after the
// last line or after the last flush of a member, such as zeros that a power loss has
// left. Open then ends the member. Complete records that were not answered remain in
// the file, and are written a second time when the source reads them again. Open keeps
// a file with other damage as NAME.part.damaged, and continues a copy of its intact
// beginning. The next run finishes files that rotate and continues the others. A record
// that spans several batches (engine.Piece) may lose its beginning in a plain file.
//
// With ExactlyOnce, the source stores its positions and the lengths of the
// outputs in one step, as a cut (see engine.CutCommitter). Open truncates
// every output to its extent, ends the member that is open there, and removes or
// restarts outputs without an extent. An extent contains the final path regardless
// of the current name of the file, so a rename does not change the extent:
//
//	NAME.part exists, longer              truncate it to the extent
//	NAME.part exists, shorter             error: durable records were removed
//	only NAME exists, same length         finished
//	neither exists                        finished, and removed by a consumer
//
// A finished file must never be truncated, because a consumer may have read it.
// A file that rotation has ended therefore keeps its unfinished name until a
// cut covers all of it:
//
//	            rotation               cut stored       renamed
//	0001.part ─────┤ sealed, in all extents ├──────────────┤ 0001
//	0002.part      ├──────────────────────────────────────────▶ in all later extents
//
// After a crash before the cut, the previous cut applies: 0001.part is
// truncated to its length in that cut, and 0002.part, which the cut does not
// contain, is removed. After a crash that follows the cut, Open finds both
// extents and renames 0001.part immediately, because all extents of a stream
// except the last belong to sealed files. The sink does not give another output
// a name that a stored cut may still contain, even if the file no longer
// exists. A file that always grows is named NAME.part until the first cut
// covers it. An unfinished name without an extent can therefore always be
// discarded, and NAME never can.
//
// # Log: faults
//
// The fault points for package fault are file.before_create, file.before_write,
// file.after_write, file.before_sync, file.after_sync, file.before_sync_dir,
// file.after_sync_dir, file.before_mend, file.before_replace,
// file.before_rename, file.after_rename and file.before_truncate.
//
// # Files
//
//	config.go, output.go, part.go                  Output: one file, published at the end
//	tree.go                                        Tree: one output for each input
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
//
// Not covered by the stability page.
package file
