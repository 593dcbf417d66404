// Package nats implements two sinks. [NewJetStream] publishes records to
// streams and answers them when the streams have stored them. [NewCore]
// publishes records with core NATS to the current subscribers.
//
// # Guarantees
//
// JetStream is durable. The sink publishes a message again, with the same id,
// until it is acknowledged: after a timeout, after a lost connection, or while
// no stream accepts the subject. It does not ask the pipeline to retry. In the
// meantime Health reports the problem, and Submit blocks once the window is
// full. A message that is too large for the server or the stream is refused
// permanently; its batch is answered when all of the batch's other messages are
// stored.
//
// With msg_id: position, the id of a message is derived from the position of
// its record in the input. A record that is read again gets the same id, so the
// stream drops the duplicate within its duplicate_window. The ids of the main
// output and of dead letters for rejected records differ, so both may go to the
// same stream.
//
// # Order
//
// Without publish.ordered, all messages of a batch, and of several batches, are
// in flight concurrently. A server that restarts acknowledges them in order or
// not at all, but during a change of leader the stream can lose one message and
// store the next one, so that a retry puts the lost message behind. With
// publish.ordered, only one message per lane and subject is in flight, and is
// acknowledged before the next one is sent, so messages cannot overtake each
// other. This costs one round trip per message. Shards ({key%64}) compensate
// for it, because each shard is a separate subject.
//
// # Headers
//
// NATS header names cannot contain spaces or colons, and header values are
// single lines. The sink omits input headers with other names (Kafka allows any
// bytes), and replaces line ends in values by spaces. It never passes on names
// that begin with Nats-, because they are commands to the server; a rollup, for
// example, deletes other messages of the stream.
//
// Not covered by the stability page.
package nats
