// Package nats wraps the NATS client: connections, streams and consumers,
// pulling with bounded prefetch, and publishing within a window of
// unacknowledged messages. Sources and sinks use only this package, not the
// client library.
//
// # Why it does not use Consume and PublishAsync of the client
//
// Both are implemented here with plain subscriptions, for reasons found in
// nats.go v1.55.0:
//
//   - Consume limits its prefetch in messages or in bytes, not in both: with
//     PullMaxMessagesWithBytesLimit the limit on bytes applies to one pull
//     request, not to the buffer. [Pull] keeps a fixed number of pull requests
//     in flight, each for its share of both limits.
//   - PublishMsgAsync retains the message, and with it a slice of the caller's,
//     in a future. After "no responders" a timer publishes it again, and
//     nothing stops that timer when the future fails meanwhile (a timeout, a
//     disconnect). By then the caller knows of the failure, and its arena may
//     hold another batch. [Window] publishes a message only until it has
//     reported the outcome to the owner.
//   - A future costs a timer, a map entry and a JSON document for each message.
//
// Conn.PublishMsg itself copies: nats.go appends headers and data to its own
// write buffer, under the lock of the connection, and then returns.
//
// # Files
//
//	conn.go, core.go, wire.go, protect.go Conn; what arrives is checked before the library sees
//	                                      it
//	admin.go, complaint.go                streams and consumers; what the server refuses
//	fetch.go, pull.go, ack.go             reading
//	window.go, stored.go, refusal.go      publishing, and its acknowledgments
//	bucket.go, bucketwatch.go             key-value buckets
//	subject.go                            subjects and their wildcards
package nats
