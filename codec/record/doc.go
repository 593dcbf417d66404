// Package record finds the URLs in records, such as the lines of an access log.
// It writes the records back with their URLs in normal form, or lists what it
// found out about each URL.
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
// A record that does not match the format and a URL that cannot be parsed make
// the record a reject, with a [Reason]. A record without a URL is not a reject.
// Worker counts every record in [Stats] exactly once, and Stats.Balanced holds
// after every call.
//
// docs/reference/formats.md describes the formats, and the choices that this package
// makes where their specifications leave room.
package record
