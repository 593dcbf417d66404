// Package file writes files. It has two sinks, which share how a file is locked,
// synced and named:
//
//   - [Output], for a run that ends: one file, or an io.Writer such as stdout, that is
//     written once. Who started the run publishes it or gives it up.
//   - [NewLog], for a daemon: files by a template of their path, one after the other or
//     one for each input, synced in groups, and cut back to what is covered by the
//     checkpoint of the source if that is asked for.
//
// # Output
//
// A file is written beside its place and gets its name when all is done:
//
//	Open      NAME.part is created, or taken over from a run that died, and locked
//	Submit    batches are appended
//	Barrier   NAME.part is synced
//	Close     the same, and no more is written
//	Publish   NAME.part becomes NAME, and the folder is synced
//	Abort     NAME.part stays where it is, for people to look at
//
// The pipeline calls the first four. Whether the run was a success is known to
// nobody in the pipeline, so who started it calls [Output.Publish] after a run
// without error, and [Output.Abort] after any other. NAME is untouched up to the
// moment of the rename: what stands under it is never half a file.
//
// Done(nil) of an Output says that a batch was written, not that it is durable. That
// is what Barrier says. Of a log it says that the batch is durable.
//
// # Log: groups
//
// Submit appends the batch to its file and returns. One goroutine goes round: it syncs
// every file that was written to, and then answers what the syncs cover. It does so
// at intervals, and at once when half of the batches wait, so many bytes wait, or a
// Barrier does.
//
//	             synced                size
//	│ answered      │ pending              │      pending batches are in their arenas
//
// If a write fails, the file is cut back to synced and what is pending is written
// again, until that succeeds: 100 ms later, then twice as long up to 5 s. If a sync
// fails, the system may have dropped what it could not write, and would not say so
// again. So the file is closed, and unless the disk was just full it is abandoned: what is
// synced is copied to a new file, read back, synced and renamed over the old one.
// Meanwhile Submit and Barrier block, Health says which file it is and why, and nothing
// is answered.
//
// # Log: names
//
//	                      written to as     becomes NAME
//	{source.relpath} or   NAME.part         when its lane is finished (Finish), or rotation
//	{lane} in the path                      ends it
//	{seq} or {time}       NAME.part         when rotation ends it, or at Close
//	none of them          NAME              it is NAME from the start, and grows for ever
//
// So whatever has its final name is finished and is never touched again, but for the
// last kind. A final name that is taken is not overwritten: the output gets a number, as
// in access-2.log.zst. Folders are made as they are needed. A record that ends without a
// line feed, as the last one of an input may, is given one: something may follow it.
//
// # Log: after a crash
//
// Without ExactlyOnce the end that is torn is cut off: what follows the last line, or the
// last complete member; zeros at the end, which a power loss leaves, are torn, too.
// Whole records there that were not answered stay, and are read and written again. A file with other damage is kept as NAME.part.damaged, and its intact
// beginning goes on. Files that rotate are finished by the next run; others go on.
// A record of more than one batch (pipeline.Piece) may lose its beginning in a plain file.
//
// With ExactlyOnce the source stores in one step how far it has come and how long the
// outputs were then: a cut (see pipeline.CutCommitter). Open cuts every output
// back to its extent, and removes or begins anew what has none. An extent has the final
// path whatever the file is called at that moment, so a rename needs no new extent:
//
//	NAME.part is there, and longer        cut off what the cut does not cover
//	NAME.part is there, and shorter       error: somebody has removed durable records
//	only NAME is there, as long           finished
//	neither is there                      finished, and taken away by who reads the outputs
//
// What is finished must never be cut back, since somebody may have read it. So a
// file that rotation has ended keeps its unfinished name until a cut covers all of it:
//
//	            rotation               cut stored       renamed
//	0001.part ─────┤ sealed, in all extents ├──────────────┤ 0001
//	0002.part      ├──────────────────────────────────────────▶ in the extents behind it
//
// A crash before the cut goes back to the cut before: 0001.part is cut to the length it
// had then, and 0002.part, which has no extent, is removed. A crash after it finds both extents, and
// renames 0001.part at once, for all extents of a stream but the last are of sealed files.
// A name that a stored cut may still know is not given to another output, even if the
// file is gone. The file that grows for ever is NAME.part until the first cut covers
// it: an unfinished name without an extent is always junk, and NAME never is.
//
// # Log: faults
//
// These points are named for package fault: file.before_create, file.before_write,
// file.after_write, file.before_sync, file.after_sync, file.before_sync_dir,
// file.after_sync_dir, file.before_mend, file.before_replace, file.before_rename,
// file.after_rename, file.before_truncate.
package file
