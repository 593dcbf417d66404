// Package kafka is the sink of Kafka topics, for records and for dead letters.
//
// A batch of the pipeline is spread over the partitions of the topic. Each
// partition has one writer and one request under way, into which goes what has
// come in the meantime:
//
//	Submit ──▶ queue of partition 0 ──▶ writer ──▶ record batch ──▶ all replicas
//	      └──▶ queue of partition 1 ──▶ writer …
//
// So records of a lane that go to the same partition stay in their order, whatever
// has to be tried again. A writer tries until it succeeds: nothing is ever answered
// as retryable before a hard stop, and a queue that does not move is backpressure,
// since the pipeline's batches are in it.
//
// Record batches are encoded into bytes of the writer's own, and numbered
// (idempotent producer), so that a request that was applied but reported as failed
// is not applied twice. Across a restart of the process records may double.
//
// A record that the broker refuses for good (too long, invalid) is found by
// splitting, and answered as Permanent alone.
package kafka
