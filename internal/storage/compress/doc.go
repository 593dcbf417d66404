// Package compress reads and writes compressed streams. It is the only package
// of this module that imports a compression library, so that limits, verdicts
// and the table of magic numbers hold for every stream.
//
// # Reading
//
// A [Reader] finds the format by the first bytes, never by the name, and
// delivers the decompressed bytes up to the first damage, each exactly once.
// Damage is no error of Read: the stream ends there, and [Reader.Verdict] says
// what was found and where. The words used here:
//
//	member   what can stand alone: a gzip member, a zstd or lz4 frame, an xz or
//	         bzip2 stream. A file is any number of them, one after the other.
//	damage   something is missing or was changed: truncated, bad CRC, corrupt
//	warning  nothing is missing, but there is more than there should be:
//	         zero padding or garbage after a complete member
//
// What follows the last member is damage if something says that it is what is left
// of a member: nearly the magic of one, a member further on, the end of one, zero
// bytes that are not all (see trailing.go). Zero bytes between two members are
// damage, too, though what follows them is read.
//
// # What is verified
//
// [Reader.Verified] says which bytes a checksum vouches for. A block of bzip2, a
// chunk of snappy or S2, and a block of lz4 that has a checksum are held back until
// it was compared. Gzip, zstd, xz and other lz4 come out as they are decoded, and
// wait for the end of their member, frame or block.
//
// # What cannot be seen
//
// A zstd or lz4 file that was cut exactly between two frames, and a snappy or
// s2 file that was cut exactly between two chunks, looks complete: these formats
// do not say how many there are. The same holds for gzip members. A cut
// anywhere else is seen.
//
// Of a cut gzip member every complete symbol comes out. A zstd frame with a damaged
// block is decoded once more, so that all comes out that the programs would give. That
// takes a regular file, and no more than 64 MiB between the last restart point, or the
// beginning of the frame, and the damage; otherwise the damaged block is lost.
//
// # Going on later
//
// With Options.RestartEvery set a [Reader] has restart points, from which
// [NewReaderAt] and [ResumeAt] read on without the data before. A [RestartPoint]
// carries the running checksum, so the trailer of a gzip member is verified even
// if the member was read in pieces. A file that is truncated today because it is
// still being written can be read on tomorrow from its last point.
//
// Reading 200 MB of an access log, one gzip member, with a point every 64 MiB takes
// as long as without, within the 1 % that can be measured; so it does if the writer
// flushed after each line. A zstd file of frames of 128 KiB, with a point after
// each, takes 3 to 10 % longer (BenchmarkRestart).
//
// A file that is being written should be opened only when it has 10 bytes: with
// less, the beginning of a compressed file may look like a text, as "(" does.
//
// [Verify] reads a file to judge it, and [LastGood] says where to cut the torn end
// off an output whose writer was killed.
//
// # Writing
//
// [NewPack] returns a function that makes one complete member of each block, so
// that workers compress in parallel and a file can be cut after any member.
package compress
