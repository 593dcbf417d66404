// Package kafka reads Kafka topics as a member of a consumer group. Its
// positions are the committed offsets of the partitions.
//
// A partition is one lane for the duration of one generation of the group:
//
//	join ──▶ generation ──▶ a reader per partition ──▶ batches
//	  ▲          │  heartbeat refused: a member joins or leaves
//	  │          ▼
//	  └── last commit ◀── drain, at most drain_timeout ◀── partial batches
//
// A commit stores the watermark of a lane under the generation that the lane
// belongs to. The broker refuses commits of an earlier generation, so a late
// member cannot move an offset that it no longer owns. Records that were read
// but not committed are read again by the next owner of the partition.
//
// After a soft stop the member stays in its generation until Close, so that
// records still in flight when Run returns can be committed.
//
// The source reads record batches of version 2 (Kafka 0.11 and later) in all
// compression formats. It skips control batches and, with isolation_level
// read_committed, records of aborted transactions. It passes tombstones
// through.
//
// Not covered by the stability page.
package kafka
