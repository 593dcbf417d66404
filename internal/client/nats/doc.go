// Package nats is what the project knows of the NATS client: connections, the
// names of streams and consumers, pulling with bounded prefetch, and publishing
// within a window of messages that are not acknowledged yet. Sources and sinks use
// it and see no client library.
//
// # Why it does not use the client's own Consume and PublishAsync
//
// Both are built here on plain subscriptions, for reasons that are visible in
// nats.go v1.55.0:
//
//   - Consume bounds its prefetch in messages or in bytes, not in both: with
//     PullMaxMessagesWithBytesLimit the bytes of one pull are bounded, not those of
//     the buffer. [Pull] keeps a fixed number of pulls under way, each for its share of both.
//   - PublishMsgAsync keeps the message, and with it a slice of the caller's, in a
//     future. After "no responders" a timer publishes it again, and nothing stops
//     that timer when the future fails meanwhile (a timeout, a disconnect): the
//     caller has been told by then, and its arena may hold another batch. [Window]
//     publishes a message only while its owner has not been told of the outcome.
//   - A future costs a timer, a map entry and a JSON document for each message.
//
// Conn.PublishMsg itself copies: nats.go appends headers and data to its own write
// buffer under the lock of the connection, before it returns.
package nats
