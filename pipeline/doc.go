// Package pipeline is the flow of records and nothing else: batches, lanes,
// workers, ordering, sinks, dead letters, commits, shutdown and the ledger.
// It knows no source, no sink, no client library and no file.
//
// # The journey of a batch
//
// A [Source] takes a free [Batch] from its [Runtime], fills the input arena
// with whole records of one [Lane], and emits it with the position after its
// last record. A worker's [Codec] reads the records and fills the output
// arenas. The batch is then submitted, in the order that [Options.Ordering]
// asks for, to every [Sink] and, if it holds rejects, to the dead-letter sink.
// Each of them answers its [Ticket] exactly once. After the last answer the
// lane resolves the batch, its watermark moves over the longest resolved
// prefix, and the batch goes back to the free list.
//
// # Backpressure
//
// The free list is a fixed number of batches. A source that finds none blocks
// in Runtime.Get, and that is all the backpressure there is: no other queue in
// the process can grow.
package pipeline
