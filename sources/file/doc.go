// Package file has two sources. A [Source] reads files, directories, globs, pipes
// and stdin, compressed or not, each once from its beginning to its end. A
// [NewWatcher] makes what a daemon reads files with: it finds new ones, follows them as
// they grow and are rotated, and goes on after a restart where it has come to.
//
// # A Source
//
// Every input is a lane. Lanes are opened in the order of the inputs: arguments
// as they were given, the files of a glob or a directory sorted by path. A lane
// is read by one goroutine that decompresses into the arena of a batch, cuts
// after the last whole record and carries the rest over to the next batch:
//
//	stream   r e c o r d \n r e c o r d \n r e c
//	batch    [ tail of the batch before | read here ............ ]
//	emitted  [ whole records ............................. ]
//	                                                  tail [ r e c ]
//
// # Damage
//
// An input that cannot be opened, or is damaged, ends its lane and nothing else.
// All whole records before the damage are emitted; an incomplete one at the position
// of a cut is not, and [Report] says how long it was. What was found is told by
// [Source.Reports] when the run is over.
//
// # Long records
//
// A record that is longer than [Config.MaxRecord] is emitted in pieces, so that
// memory stays bounded. It ends at the next line feed, quoted or not: an opening
// quote without its end would otherwise swallow the rest of the file.
//
// # Pipes
//
// What is not a regular file is read ahead by a goroutine of its own, so that a
// batch can be emitted when nothing has come for [Config.Linger]. At a soft stop,
// a goroutine that waits for stdin is left behind, because there is no way to
// wake it; it ends with the process, or with the next byte.
//
// # A watcher
//
// Every text is a lane, for as long as it can be found: a text stays the same when
// its file is renamed, copied or compressed. One goroutine polls, others read:
//
//	scan ──▶ by inode: known ──▶ renamed? grown? gone? ──▶ queue ──▶ readers ──▶ lanes
//	           │ not known                                   ▲
//	           ▼                                             │
//	         candidate ──▶ by content: copy of one that is gone, of one that is
//	                      there (wait), or new ───────────────┘
//
// A text is known by the hash of its beginning, up to fingerprint_bytes, as far as
// it was emitted, and by the hash of the last KiB before the position where reading
// goes on. The second is what tells files apart that begin with the same header.
//
//	rotation            what is done
//	create, dateext     the inode has another name: read to its end, for rotate_wait
//	compress            the new file is held back while the old one is there; then
//	                    its text is that of a file that is gone, and is read on
//	copytruncate        the copy is held back; when the file is found to hold another
//	                    text, the copy takes its place, and what had not been read
//	                    yet is read from there
//
// A young file that begins like another one is held back until it differs, or has
// not changed for rotate_wait. That costs time, never a record.
//
// What cannot be seen: a file that is truncated and grows, between two looks, so that
// just the bytes that are compared are the same again; a file that comes, and is
// gone again, between two looks; what is written to a file between its copy and
// its truncation, which no reader can see; and what was in a truncated file and no copy
// (the metric of lost bytes). If a file is truncated behind a copy while no daemon runs, and
// the copy is shorter than what was read, the copy is read again.
//
// A line without its end waits for it, unless the file is at its end for good:
// rotated, compressed, in a batch, or with UntilEOF. Positions are always behind a
// whole record, except in the middle of one that is longer than the limit.
//
// A compressed file goes on at a restart point, at most restart_point_every and one
// block before the position; its checksums are verified as if it had been read at
// once. One that ends too early is taken for one that is still being written until it
// has not changed for damage_after. A damaged file is not read again unless it
// changes.
package file
