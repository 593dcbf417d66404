// Package daemon is what "urlfold run" runs: it makes a pipeline of a
// configuration, keeps it running, puts another configuration in its place, and
// lets operators look at it.
//
//	config.File ──▶ plan ──▶ parts ──▶ pipeline ──▶ the next one, after a reload
//	                 │                    ▲
//	                 └── job: what becomes of a record; swapped while it runs
//
// A plan has checked all that can be checked without touching anything. Parts are
// the sources and sinks that are made of it. What of a configuration changes how
// records are handled is swapped inside the running pipeline; what changes where
// they come from or go ends that pipeline, drained and committed, and starts the
// next one in the same process.
package daemon
