// Package objects reads and writes the objects of a store such as Amazon S3. It
// implements no protocol: a [Client], such as package s3 provides, sends the requests.
//
// # Reading
//
// A [Reader] reads one object in ranges and fetches the next ranges while the
// caller works on the current one. Every range must belong to the listed
// version: if the object changes meanwhile, the reader returns an error instead
// of a mix of two versions. A range that ends early is continued where it
// ended. Memory is bounded: a reader holds at most three ranges, and all
// readers of a [Store] together fetch at most [aheadRanges] ahead.
//
// # Writing
//
// A [Writer] uploads parts of one size. The object appears as a whole when
// [Writer.Complete] returns, and not at all if the process dies before that. An
// output that fits into one part is one request.
//
// # Errors
//
// Temporary errors are retried until [Store.Patience] has passed without
// progress. Other errors are an [*Error] with a [Kind].
package objects
