// Package pipeline lets programs outside this module move records through urlfold, with
// sources and sinks of their own: in a configuration, by the functions Define of packages
// sources and sinks, or in a pipeline of their own ([New]).
//
// A [Source] opens lanes, fills batches with records and emits them. Workers find the URLs
// in the records, normalize them and render the output. A [Sink] gets a [Ticket] for each
// batch of output and answers it once: the records are durable, or will be, or never.
// When all sinks have answered, a source that stores positions gets the position
// ([Committer]). A crash therefore repeats records and never loses one.
//
// [SourceFunc] and [SinkFunc] make a source and a sink of a function.
//
// # Mistakes
//
// A source or a sink that breaks its contract ends the run with a [ContractError], if the
// pipeline notices. Two mistakes it notices only with the build tag invariants, which makes
// it overwrite a batch that was answered: a sink that keeps slices of a ticket, and one that
// changes them. Run the tests of a component with "go test -tags invariants", and with
// package pipelinetest.
//
// The engine that does the work is package pipeline/engine, which the sources and sinks of
// this module use directly.
package pipeline
