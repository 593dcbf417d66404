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
package kafka
