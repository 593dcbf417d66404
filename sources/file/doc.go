// Package file is the source of files, directories, globs, pipes and stdin,
// compressed or not, each read once from its beginning to its end.
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
// All whole records before the damage are emitted; an incomplete one at the place
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
package file
