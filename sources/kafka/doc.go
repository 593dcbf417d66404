// Package kafka is the source of Kafka topics: a member of a consumer group whose
// position is the committed offset of each partition.
//
// A partition is one lane for as long as one generation of the group lasts:
//
//	join ──▶ generation ──▶ a reader per partition ──▶ batches
//	  ▲          │  heartbeat refused: somebody comes or goes
//	  │          ▼
//	  └── last commit ◀── drain, at most drain_timeout ◀── partial batches
//
// A commit is the watermark of a lane, in the name of the generation that the lane
// belongs to: a member that is late cannot move what is no longer its own, since
// the broker refuses it. What was read and not committed is read again by whom the
// partition belongs to then.
//
// After a soft stop the member stays in its generation until Close, so that what
// is still under way when Run returns can be committed.
//
// What is read: record batches of version 2 (Kafka 0.11 and later), with all
// compressions. Control batches are no records, and with isolation_level
// read_committed neither are those of aborted transactions. Tombstones pass through.
package kafka
