// Package pipeline lets programs outside this module move records through urlfold, with
// sources and sinks of their own. A program either defines types that a configuration can
// name (sources.Define, sinks.Define), or runs a pipeline that it has built with [New].
//
// A [Source] opens lanes, fills batches with records and emits them. Workers find the URLs
// in the records, normalize the URLs and write the output records. A [Sink] gets a [Ticket]
// for each batch of output records and answers it once. The answer reports whether the records
// are durable, must be submitted again, or are refused for good. When all sinks have
// answered that the records are durable, the pipeline passes the position of the batch to a
// source that stores positions ([Committer]). A crash therefore can repeat records but never
// lose one.
//
// [SourceFunc] and [SinkFunc] make a source or a sink from a function.
//
// # Mistakes
//
// If the pipeline notices that a source or a sink breaks its contract, the run ends with a
// [ContractError]. Two mistakes are found only with the build tag invariants: a sink that
// keeps slices of a ticket after the answer, and a sink that changes these slices. With this
// tag, the pipeline overwrites answered batches. Test a component with package pipelinetest
// and "go test -tags invariants".
//
// The engine that does the work is package pipeline/engine, which the sources and sinks of
// this module use directly.
package pipeline
