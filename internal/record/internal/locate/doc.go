// Package locate defines the interface between the formats and package record:
// Settings, the part of a configuration that a format reads, and Found, which
// holds what its Locators find in a record. It also holds what several families
// of formats need: the classes of bytes, escapes, request lines, times, and the
// forms that records have in common. In its comments, Config, Job and Worker
// are the types of package record.
//
// # Files
//
//	format.go, settings.go, sample.go  Format, Reader, Locator; the settings; detection
//	framing.go, walk.go, directive.go  where records end; the lines of a block; lines that set
//	                                   fields
//	hole.go                            NULs in front of a line
//	found.go, reason.go, position.go   what a Locator finds, or why it finds nothing; where
//	attr.go, attrvalue.go, mapping.go  what a log tells about a request besides its URL
//	use.go, names.go, compose.go       what a field holds; tables of names; a URL in several fields
//	target.go, colors.go, browser.go   request lines, hosts and schemes; colors of a terminal;
//	                                   the URL Standard
//	stamp.go, clock.go, prefix.go      times; what precedes the line of a log
//	dialect.go, jsontext.go, divide.go escapes of a field; JSON strings; the limits of fields
//	reference.go, prose.go             character references; URLs in prose
//	form.go                            what records have in common
//	bytes.go                           classes of bytes, and words
package locate
