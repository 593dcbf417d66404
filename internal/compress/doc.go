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
// # What cannot be seen
//
// A zstd or lz4 file that was cut exactly between two frames, and a snappy or
// s2 file that was cut exactly between two chunks, looks complete: these formats
// do not say how many there are. The same holds for gzip members. A cut
// anywhere else is seen.
//
// The decoder of deflate looks a few bits ahead. Where a gzip member is cut, it
// gives up to two bytes less than a decoder could that takes one bit at a time.
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
