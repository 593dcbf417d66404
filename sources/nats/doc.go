// Package nats contains two sources. [NewJetStream] reads a stream through a
// durable pull consumer and loses nothing. [NewCore] reads the messages that
// are published while it is subscribed, at most once.
//
// # Acknowledgments
//
// JetStream is an engine.Acker. It acknowledges a message when all of its
// records are durable in every sink, and never before. The server redelivers a
// message after ack_wait; to prevent that, the source reports messages in
// progress after half of ack_wait, including messages that wait for a free
// batch, for up to max_processing_time. Messages abandoned by a hard stop are
// requested again after nak_delay. A soft stop immediately returns prefetched
// messages that were not started, so that another instance gets them without
// waiting for ack_wait.
//
// An acknowledgment may get lost with a connection. The message is then
// delivered once more; the jetstream sink drops the duplicate by its id. With
// ack: confirmed, the source waits in the background for the confirmation of
// the last acknowledgment of a batch, and sends all of them again if it does
// not arrive.
//
// # Prefetch
//
// The source keeps four pull requests of a quarter of prefetch.messages and
// prefetch.bytes each at the server. Together with the messages that have
// arrived but are not taken yet, they never exceed those limits: both limits
// apply to the buffer as a whole, not to each request. (Consume of the client
// library limits one or the other; Fetch waits a round trip between two
// requests.)
//
// # Poison
//
// A message that crashes the process is delivered again and again. With
// poison.after: 5 it is not processed a sixth time. It is terminated, which the
// server announces in an advisory, or published unchanged to poison.subject and
// then terminated. Without poison.after, max_deliver of the consumer makes the
// server drop the message unnoticed.
//
// # Core NATS
//
// Core NATS has neither acknowledgments nor storage: messages published while this
// process is not connected, or faster than it reads, are lost. Messages that the client
// dropped because its pending limits were reached are counted exactly. Messages that a
// server drops when it disconnects a slow client cannot be counted.
//
// Not covered by the stability page.
package nats

// The files of this package:
//
//	config.go, check.go                           settings; what is checked at
//	                                              the start
//	jetstream.go, reader.go, receipt.go, floor.go JetStream: messages and their acknowledgments
//	epoch.go, guard.go, gate.go                   a stream that is created again
//	unread.go                                     messages that were deleted before they were
//	                                              read
//	poison.go                                     messages that always fail
//	core.go                                       core NATS
//	stats.go                                      what is counted
