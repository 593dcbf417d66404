// Package engine moves batches of records from sources through workers into sinks, and
// does not depend on any particular source, sink or client library.
//
// A [Source] fills a free [Batch] of its [Runtime] with whole records of one [Lane], and
// emits the batch with the position after its last record. A worker's [Codec] fills the
// output arenas. The worker submits the batch, in the order of [Options.Ordering], to
// every [Sink] and, if it holds rejected records, to the dead-letter sink. Each sink answers
// its [Ticket] exactly once. After the last answer the lane resolves the batch, advances
// its watermark, and frees the batch.
//
// The number of batches is fixed. If none is free, [Runtime.Get] blocks. This is the only
// backpressure; no other queue in the process can grow.
//
// Not covered by the stability page.
package engine

// The files of this package:
//
//	options.go, run.go, feed.go                    Options; Pipeline: a run; its sources and lanes
//	source.go, intake.go, turn.go, sink.go,        what a source uses, what a sink is, and its
//	ticket.go, parts.go                            answer; what a component can do besides
//	codec.go, recordcodec.go                       Codec, and the one that reads records
//	batch.go, message.go, pool.go, split.go        a batch and its arenas; messages; free
//	                                               batches; parts
//	lane.go, label.go, order.go, queue.go, gate.go a lane's watermark and properties; the order
//	                                               of batches; waiting
//	worker.go, route.go, generation.go             a worker; which sinks get a record; a new
//	                                               codec
//	delivery.go, refused.go, retry.go,             the way to the sinks; records that a sink
//	deadletter.go, release.go                      refuses; a batch that all have answered
//	commit.go, cut.go                              stored positions
//	filter.go, dedupe.go, decisions.go             records that are dropped as duplicates; a
//	                                               Dedupe's decisions
//	lanekeys.go, claims.go, window.go              keys shared by processes: by lane, by claim;
//	                                               windows of time
//	verified.go                                    text that no checksum covers
//	shutdown.go, errors.go                         how a run ends
//	stats.go, meter.go                             the ledger; counts and durations
//	invariants_on.go, invariants_off.go            checks of the build tag invariants
