// Package kafka implements a sink that writes records or dead letters to a
// Kafka topic.
//
// The sink distributes the records of a batch over the partitions of the topic.
// Each partition has one writer with at most one request in flight. The next
// request contains the records that were queued in the meantime:
//
//	Submit ──▶ queue of partition 0 ──▶ writer ──▶ record batch ──▶ all replicas
//	      └──▶ queue of partition 1 ──▶ writer …
//
// Records of a lane that go to the same partition therefore keep their order,
// regardless of retries. A writer retries until it succeeds, so the sink
// answers no batch as retryable before a hard stop, except for records left
// untried after a refusal. A queue that does not advance causes backpressure,
// because it holds batches of the pipeline.
//
// Record batches are encoded into memory of the writer and numbered (idempotent
// producer), so that a request that was applied but reported as failed is not
// applied twice. A restart of the process may duplicate records, unless
// Config.ExactlyOnce is set.
//
// If the broker permanently refuses a record (too large, invalid), the sink
// finds it by splitting the record batch, and answers only that record as
// Permanent.
//
// Not covered by the stability page.
package kafka
