// Package record finds URLs in records, such as lines of an access log, and
// writes them back in normal form, or lists what there is to say about them.
//
// A [Job] is a [Config] made ready for use. Its [Framing] tells a source where
// records end; its [Worker], one per goroutine, reads one record at a time and
// appends what is to be written:
//
//	n := w.Next(in)
//	out, dead = w.Append(out, dead, in[:n], at, &stats)
//
// What happens inside, for each record:
//
//	1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a\x22b HTTP/1.1" 200 1 "-" "x"
//	                                              |      |
//	locate    find the sites of URLs              /a\x22b
//	unescape  undo the log's dialect              /a"b       and keep the offset map
//	read      codec: parse, normalize, flag       /a%22b     behind a scheme and host
//	render    escape in the dialect, or list      /a%22b
//
// A record that is not of the format, and a URL that has no reading, are rejects
// with a [Reason]; a record that has no URL is not. Every record is counted in
// [Stats] exactly once, and Stats.Balanced holds after every call.
//
// The formats, and what was decided where they leave room, are described in
// docs/formats.md.
package record
