// Package pipeline moves batches of records from sources through workers into
// sinks. It implements lanes, ordering, dead letters, commits, shutdown and the
// ledger, and does not depend on any particular source, sink, client library or
// file.
//
// # The journey of a batch
//
// A [Source] takes a free [Batch] from its [Runtime], fills the input arena
// with whole records of one [Lane], and emits the batch with the position after
// its last record. A worker's [Codec] reads the records and fills the output
// arenas. The worker then submits the batch, in the order that
// [Options.Ordering] requires, to every [Sink] and, if it holds rejected
// records, to the dead-letter sink. Each sink answers its [Ticket] exactly
// once. After the last answer the lane resolves the batch, advances its
// watermark over the longest resolved prefix, and returns the batch to the free
// list.
//
// # Backpressure
//
// The free list holds a fixed number of batches. A source that finds none
// blocks in Runtime.Get. This is the only backpressure; no other queue in the
// process can grow.
package pipeline
