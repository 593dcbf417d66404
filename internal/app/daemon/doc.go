// Package daemon implements "urlfold run": it builds the pipeline of a
// configuration, runs it, reloads the configuration, and serves its status.
//
//	config.File ──▶ plan ──▶ parts ──▶ pipeline ──▶ the next one, after a reload
//	                 │                    ▲
//	                 └── job: how to process a record; can be swapped at run time
//
// A plan is a configuration that has been validated as far as possible without
// accessing other resources. Parts are the sources and sinks created from it.
// If a new configuration changes only how records are processed, the daemon
// swaps the job of the running pipeline. If it changes sources or sinks, the
// daemon drains and commits the pipeline and starts the next one in the same
// process.
//
// # Files
//
//	daemon.go, reload.go, view.go                  Daemon: run, reload, what it shows
//	catalog.go, plan.go, fixed.go, header.go,      the plan
//	descriptors.go
//	paths.go, route.go, refused.go, mixed.go       which combinations are rejected
//	job.go, codec.go                               how records are processed
//	dedupe.go, claims.go                           duplicates
//	takeover.go, lost.go                           stored state after a change of components; lost state
//	cases.go, dryrun.go                            test cases and dry runs
//	tell.go, secrets.go                            log lines about the state; masking of secrets
package daemon
