// Package file is the sink that writes one file, or to an io.Writer such as
// stdout, once.
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
// Done(nil) says that a batch was written, not that it is durable. That is what
// Barrier says.
package file
