// Package manual shows the documents of urlfold in a terminal and as man pages.
// It reads the subset of Markdown in which they are written: headings,
// paragraphs, lists without nested lists, fenced blocks, tables, links, and code
// and emphasis within a line.
package manual
