// Package record finds the URLs in records, such as the lines of an access log. It
// writes the records back with their URLs in normal form, or writes properties of each
// URL.
//
// New turns a [Config] into a [Job]. The job's [Framing] tells a source where
// records end. Each goroutine has its own [Worker], which reads one record at a
// time and appends its output to a buffer:
//
//	n := w.Next(in)
//	out, dead = w.Append(out, dead, in[:n], at, &stats)
//
// A Worker handles each record in four steps:
//
//	1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a\x22b HTTP/1.1" 200 1 "-" "x"
//	                                              |      |
//	locate    find the offsets of URLs            /a\x22b
//	unescape  decode the log's escapes            /a"b     and map the offsets
//	read      codec: parse, normalize, flag       /a%22b   with scheme and host
//	render    encode for the log, or list         /a%22b
//
// A Worker rejects a record, with a [Reason], if the record does not match the
// format or a URL in it cannot be parsed. It does not reject a record without a
// URL. Worker counts every record in [Stats] exactly once, and Stats.Balanced
// holds after every call.
//
// docs/reference/formats.md describes the formats, and the choices that they make where
// their specifications leave room.
//
// # Packages
//
// This package handles a record from its bytes to its output: it asks a Locator
// for the URLs, lets the codec read them, and renders the result. The formats
// are below internal, one package for each family: textlog, jsonlines, table,
// markup, archive and wire. They share the types of internal/locate, and import
// neither this package nor one another, except that archives and binary records
// can contain JSON and HTML. internal/formats lists all formats.
//
// # Files
//
//	config.go, job.go, contract.go, custom.go  Config and Job; what formats and this package
//	                                           share; formats of other modules
//	worker.go, binary.go, visit.go             Worker: one record; one of binary records; one
//	                                           that is only read
//	reading.go, base.go, parts.go, repair.go   what is read of a URL; the scheme and host of a
//	                                           target; a URL in several fields; repairs
//	fields.go, attr.go, derived.go, params.go, the output fields
//	computed.go
//	disposition.go, reject.go, stats.go        rejected records, and the counts
//
// The output:
//
//	item.go, plan.go, row.go, object.go,       the renderings
//	columns.go
//	extend.go, expansion.go                    fields added to a record; its limit
//	redact.go, secrets.go                      what is masked
//	identity.go, where.go, route.go, shard.go  duplicates and facts for sinks, conditions,
//	                                           routes, shares
//
// Records that stay as they are, or change only in their front:
//
//	run.go, unchanged.go, keepers.go           a block of records; whether one stays
//	unchangedfound.go, unchangedform.go        formats whose Locators find the URL; records
//	                                           with the form of an earlier one
//	unchangedfront.go, missed.go, copykey.go   the scheme and the authority; targets that
//	                                           change; keys of what stays
package record
