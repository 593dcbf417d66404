// Package nats has two sources: [NewJetStream], which reads a stream through a durable
// pull consumer and loses nothing, and [NewCore], which reads what is published while
// it listens, at most once.
//
// # Acknowledgments
//
// JetStream is a pipeline.Acker. A message is acknowledged when all of its records
// are durable in every sink, and never before. Until then the server would deliver it
// again after ack_wait, so messages that are under way for half of it are reported
// as in progress, those that wait for a free batch too, up to max_processing_time.
// What is given up by a hard stop is asked for again after nak_delay; what was
// prefetched and not begun at a soft stop, at once, so that another instance gets it
// without waiting for ack_wait.
//
// An acknowledgment may get lost with a connection. Then the message is delivered
// once more: into the sink jetstream it is dropped there by its id. With ack:
// confirmed the last acknowledgment of a batch is waited for, in the background, and
// all of them are sent again if it is not confirmed.
//
// # Prefetch
//
// Four pulls of a quarter of prefetch.messages and prefetch.bytes each are kept at the
// server. Together with what has arrived and was not taken yet they are never more
// than that: both bounds hold for the buffer, not only for one pull. (Consume of the
// client bounds one or the other; Fetch waits a round trip between two pulls.)
//
// # Poison
//
// A message that makes the process crash comes again, and again. With poison.after:
// 5 it is not processed a sixth time, but terminated, which the server tells in an
// advisory, or published to poison.subject, as it is, before it is terminated. A
// max_deliver of the consumer alone makes the server forget such a message without
// anybody having seen it.
//
// # Core NATS
//
// There are no acknowledgments and nothing is kept: what is published while this
// process is not connected, or faster than it reads, is lost. What the client had to
// drop because its pending limits were reached is counted exactly; what a server
// drops when it cuts off a connection that does not read is not known to anybody.
package nats
