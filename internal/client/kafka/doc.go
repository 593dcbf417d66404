// Package kafka is all that the Kafka source and sink know of Kafka: where the
// brokers are and how to log in ([connect.Kafka]), and what can be asked of them
// ([Client]). The client library stays behind that interface, so that another one
// can take its place.
//
// Three things are not left to the library, since it would lose or double records,
// or be stopped by what a log may hold:
//
//   - Record batches are decoded here ([Decoder]): checksums, batches that a
//     compaction has emptied, control batches, aborted transactions, and a limit on
//     what a batch may decompress to.
//   - Record batches are encoded here ([Encoder]) into bytes of their own: what the
//     library still holds after a request was given up is never the arena of a
//     pipeline's batch.
//   - Producer ids and sequence numbers are given here, so that a request that was
//     applied but reported as failed is not applied twice.
package kafka
