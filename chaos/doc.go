// Package chaos provides the building blocks of the fault experiments: records
// that can be distinguished from any other data, an oracle that counts them, a
// writer whose log is rotated like logrotate does, and processes that can be
// killed.
//
//	Spec      record n of lane l, in its written form and in its expected output form
//	Kind      a file of records: plain, one gzip member, a thousand, zstd, s2
//	Live      a writer that appends to a log and rotates it
//	Archive   a file, for each way of writing each compression format
//	Harm      the damage to an archive, and the output that is then allowed
//	Referee   the reference program or library for a format
//	Oracle    lost, doubled, reordered, corrupted, invented, misrouted
//	Process   a run of the program: signals, descriptors, memory, metrics
//	Mutation  a defect in a copy of the source, which tests must detect
//
// Everything is a function of a seed, except for the effects of the scheduler
// and the disk.
//
// The package uses the compression libraries directly, not
// internal/storage/compress, because it must write what other programs would
// write, and must not depend on the code under test.
//
// It is a separate module, so that programs that import urlfold get nothing of
// it. Its path is below the main module's, so it may import the packages of
// internal there.
//
// # Files
//
//	record.go, container.go, archive.go, live.go Spec; Kind; Archive; Live
//	harm.go, power.go, mutation.go               Harm; a disk that loses power; Mutation
//	reference.go, oracle.go, outputs.go          Referee; Oracle; the outputs
//	process.go, rss_*.go                         Process
package chaos
