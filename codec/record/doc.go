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
//
// # Files
//
// The contract, and the way of a record:
//
//	config.go, format.go                           Config and Job; Format, Reader and Locator
//	framing.go, walk.go                            where records end; the lines of a block
//	directive.go, prefix.go, prefixlog.go          lines that set fields; what precedes a line
//	detect.go, lacks.go, fit.go                    which format an input has, and which fields
//	                                               it lacks
//	worker.go, run.go, located.go                  Worker: one record; a block of records; a
//	                                               record that was found before
//	found.go, target.go, attr.go, base.go,         what a Locator finds: URLs, targets,
//	origin.go                                      attributes; the scheme and host of a target
//	attrtime.go, clockscan.go                      times
//	dialect.go, divide.go, parts.go                escapes of a field; its limits; a URL in two
//	                                               fields
//	reading.go, fields.go, derived.go, campaign.go, what is read of a URL, as output fields
//	params.go
//	reason.go, reject.go, disposition.go, stats.go rejected records, and the counts
//
// The output:
//
//	item.go, plan.go, row.go, object.go,           the renderings
//	constants.go, columns.go
//	extend.go, note.go, copykey.go, expansion.go   fields added to a record; its limit
//	redact.go, secrets.go, repair.go               what is masked; what is mended before
//	                                               parsing
//	identity.go, where.go, route.go, shard.go,     duplicates, conditions, routes, shares; what
//	fact.go, deadcut.go                            sinks need; long dead letters
//	missed.go                                      records that nearly stayed as they are
//	unchanged.go, unchangedfound.go,               records that stay as they are
//	unchangedfront.go, unchangedhost.go,
//	unchangedlog.go, unchangedwhere.go
//	form.go, formurl.go                            what records have in common
//
// The families of formats:
//
//	format_lines.go, format_text.go, textscan.go,  URLs in lines and in prose
//	format_anylog.go, colors.go
//	format_log.go, logclient.go, requestscan.go    common and combined logs
//	format_layout.go, directives.go                layouts of nginx and Apache
//	format_textlog.go, textlog.go, textlogs.go,    logs of load balancers and proxies
//	textcheck.go
//	format_w3c.go, format_zeek.go                  logs with a header
//	format_logfmt.go, format_ltsv.go,              fields with names
//	format_cef.go, named.go, namedform.go
//	format_jsonl.go, format_jsonlog.go,            JSON
//	format_jsonparts.go, jsonlogs.go, jsonline.go
//	jsonscan.go, jsontext.go, jsontree.go,         JSON texts
//	jsonwrap.go, jsonform.go
//	urlparts.go                                    URLs composed of several fields
//	format_table.go, format_tableparts.go,         CSV and TSV
//	format_gcs.go, tablesyntax.go, tableescape.go
//	tablecut.go, tableheader.go, tablekeep.go,     their records, headers and quotes
//	tablequote.go
//	format_html.go, htmlscan.go, htmlvalue.go      HTML
//	format_warc.go, format_warc_frame.go,          web archives
//	format_wat.go, format_arc.go,
//	format_arc_frame.go
//	format_cdx.go, format_cdxj.go                  indexes of web archives
//	format_journal.go, format_journal_frame.go     entries of the systemd journal
//	format_avro.go, avroschema.go,                 messages in binary form
//	format_msgpack.go, format_protobuf.go,
//	binary.go
//	digits.go                                      runs of digits
package record
