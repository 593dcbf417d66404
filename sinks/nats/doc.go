// Package nats has two sinks: [NewJetStream], which publishes records to streams and
// answers when the streams have them, and [NewCore], which publishes them to whoever
// listens now.
//
// # Promises
//
// JetStream is durable. What is not acknowledged is published again, with the same
// id, until it is: after a timeout, after the connection was lost, while no stream
// takes the subject. It never asks the pipeline to retry. Meanwhile Health tells
// what is wrong, and Submit blocks once the window is full. A message that is too
// long for the server or the stream is refused for good; its batch is answered when
// all others of it are stored.
//
// With msg_id: position, the id of a message is made of where its record stood in
// the input. A record that is read again has the same id, so the stream drops the
// second one, within its duplicate_window. Ids of the main output and of dead letters of
// rejects differ, so both may go to the same stream.
//
// # Order
//
// Without publish.ordered the messages of a batch, and of several batches, are under
// way together. A server that restarts answers them in order or not at all, but a
// leader that changes can lose one message and take the next one, which then stands
// before it. With publish.ordered there is one message under way for each lane and
// subject: it is acknowledged before the next one leaves, so none overtakes another,
// whatever happens. That costs a round trip a message; shards ({key%64}) make it up,
// since each of them is a subject.
//
// # Headers
//
// NATS headers have names without spaces and colons, and values in one line. What is
// not so in the input (Kafka allows any bytes) is left out, or its line ends become
// spaces. Names that begin with Nats- are orders to the server (a rollup deletes a
// stream's other messages) and never passed on.
package nats
