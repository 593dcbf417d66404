// Package objects contains the source that reads the objects that messages
// name, such as the notifications of a bucket. Package sources/file reads the
// objects: positions, verdicts and restart points are the same.
//
// # Acknowledgments
//
// A message is acknowledged when all records of all its objects are durable, and
// never before. Until then, the source keeps it from being delivered to another
// process. If that fails, or the process dies, the message is delivered again. The
// checkpoint knows which objects this instance has read, and how far, so that
// none of their records is read twice; another instance reads the objects from
// their beginnings.
//
//	queue ──▶ message ──▶ HEAD of each object ──▶ Listed ──▶ watcher of package file
//	  ▲                        │ cannot be read                  │ Done
//	  └── acknowledgment ◀─────┴──▶ dead letter ◀── damaged ─────┤
//	             ▲                                     intact    │
//	             └───────────────────────────────────────────────┘
//
// An object that cannot be read, or is damaged, becomes a dead letter with its
// verdict. Its message is acknowledged once the dead letter is durable, so that it
// does not come back for ever.
//
// # Files
//
//	config.go                  settings
//	source.go                  messages in progress, from delivery to acknowledgment
//	deadletter.go              objects that cannot be read
//	message.go                 what a message says
//	enqueue.go                 messages about the objects that exist already
//	jetstream.go, sqs.go,      the queues
//	kafka.go
//
// Not covered by the stability page.
package objects
