// Package compress reads and writes compressed streams. It is the only package
// of this module that imports compression libraries, so that the same limits,
// verdicts and magic numbers apply to every stream.
//
// # Reading
//
// A [Reader] detects the format from the first bytes, never from the name. It
// delivers the decompressed bytes up to the first damage, each exactly once.
// Damage is not an error of Read: the stream ends there, and [Reader.Verdict]
// reports the kind of damage and its position. Terms:
//
//	member   a unit that can be decoded by itself: a gzip member, a zstd or lz4 frame,
//	         an xz or bzip2 stream. A file is a sequence of members.
//	damage   data is missing or was changed: truncated, bad CRC, corrupt
//	warning  no data is missing, but zero padding follows the last member
//
// Anything but zero bytes after the last complete member is damage (see
// trailing.go), because a member whose beginning was overwritten cannot be
// distinguished from appended bytes. Zero bytes between two members are damage,
// too, but the following members are read.
//
// # What is verified
//
// [Reader.Verified] reports which bytes are confirmed by a checksum. A block of
// bzip2, a chunk of snappy or S2, and a block of lz4 with a checksum are held
// back until their checksum is compared. Data of gzip, zstd, xz and other lz4
// is delivered as it is decoded and counts as verified from the end of its
// member, frame or block.
//
// # Undetectable truncation
//
// A zstd or lz4 file that was cut exactly between two frames, a gzip file that
// was cut exactly between two members, and a snappy or S2 file that was cut
// exactly between two chunks look complete: these formats do not record how
// many there are. A cut anywhere else is detected.
//
// The Reader delivers every complete symbol of a truncated gzip member. It
// decodes a zstd frame with a damaged block a second time, to deliver
// everything that the zstd program would. That requires a regular file and at
// most 64 MiB between the last restart point, or the beginning of the frame,
// and the damage; otherwise the damaged block is lost.
//
// # Resuming
//
// With Options.RestartEvery set, a [Reader] provides restart points.
// [NewReaderAt] and [ResumeAt] continue from a restart point without reading
// the earlier data. A [RestartPoint] carries the running checksum, so the
// trailer of a gzip member is verified even if the member was read in several
// parts. A file that is truncated because it is still being written can be
// continued later from its last point.
//
// Reading 200 MB of an access log in one gzip member takes the same time with
// and without a point every 64 MiB, within the measurement error of 1 %, also
// if the writer flushed after each line. A zstd file with frames of 128 KiB and
// a point after each frame takes 3 to 10 % longer (BenchmarkRestart).
//
// A file that is still being written should be opened only when it has at least
// 10 bytes: a shorter beginning of a compressed file may look like text, as "("
// does.
//
// [Verify] reads a file to check it. [LastGood] and [Mend] return where to
// truncate an output whose writer was killed.
//
// # Writing
//
// [NewPack] returns a function that compresses each block to one complete
// member, so that blocks can be compressed in parallel and a file can be
// truncated after any member. [MemberSize] is the least size of a block at
// which the separate members cost little. A [MemberWriter] keeps a member open
// while its file is synced, and can continue the open member of a process that
// was killed.
//
// # Files
//
//	format.go, tar.go, nested.go, trailing.go      what a stream is, by its bytes; layers; what
//	                                               follows the last member
//	reader.go, input.go, verdict.go, verify.go     Reader and its limits; what it says of a
//	                                               damaged stream
//	encoding.go                                    text in UTF-16, or with CR at line ends
//	verified.go                                    which text checksums cover
//	gzip.go, gzip_points.go, zlib.go, deflate.go   deflate: gzip and zlib
//	ahead.go, ahead_deflate.go, ahead_worker.go    parts of a gzip file, decoded early and in
//	                                               parallel
//	restart.go, resume.go                          places to continue at
//	index.go, index_gztool.go, index_indexed.go,   indexes of gzip files
//	index_plan.go, index_writer.go
//	zstd.go, zstd_dictionary.go, zstd_salvage.go   Zstandard
//	lz4.go, xxh32.go, s2.go, xerial.go, bzip2.go,  other formats
//	xz.go
//	block.go, table.go                             pages of Parquet; Parquet and Avro files as
//	                                               streams
//	pack.go, pieces.go, member.go, replay.go,      compression of outputs
//	mend.go
package compress
