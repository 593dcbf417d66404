// Package chaos is what the fault experiments are made of: records that can be
// told from any other, an oracle that counts them, a writer whose log is rotated
// as logrotate does it, and processes that are killed.
//
//	Spec      record n of lane l, as it is written, and as it must come out
//	Kind      a file of records: plain, one gzip member, a thousand, zstd, s2
//	Live      a writer that appends, and is rotated
//	Archive   a file in each way that each compression can be written
//	Harm      what is done to it, and what may come out then
//	Referee   the program for a format, or a library: what it makes of the file
//	Oracle    lost, doubled, reordered, corrupted, invented, misrouted
//	Process   a run of the program: signals, descriptors, memory, metrics
//	Mutation  a defect to put into a copy of the source, for the tests to find
//
// Everything is a function of a seed, but for what the scheduler and the disk do.
//
// Only cmd/urlfold-chaos and tests import it. It compresses and decompresses with
// the libraries themselves, not with internal/storage/compress: it writes what other
// programs would have written, and does not trust what it tests.
package chaos
