// Package kafka connects the Kafka source and sink to Kafka: it handles brokers
// and logins ([connect.Kafka]) and provides the operations that they need
// ([Client]). The interface hides the client library, so that it can be
// replaced.
//
// Three things are implemented here, because the library would lose or
// duplicate records, or would stop at valid content of a log:
//
//   - Decoding record batches ([Decoder]): checksums, batches emptied by
//     compaction, control batches, aborted transactions, and a limit on the
//     decompressed size.
//   - Encoding record batches ([Encoder]) into separate buffers, because the
//     library may retain a buffer after a request was given up, and that must
//     never be the arena of a pipeline batch.
//   - Assigning producer ids and sequence numbers, so that a request that was
//     applied but reported as failed is not applied twice.
//
// # Files
//
//	client.go, library.go,                         Client, its implementation by the library,
//	security.go                                    and its connections
//	frame.go, layout.go, panic.go                  answers are checked before the library sees
//	                                               them
//	rawfetch.go, logs.go, note.go                  requests that the library does not have
//	decoder.go, encoder.go, compression.go         record batches
//	group.go, code.go, pause.go                    consumer groups; error codes; waiting
package kafka
