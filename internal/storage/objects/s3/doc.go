// Package s3 is the client of package objects for Amazon S3 and the stores that
// speak its protocol. It sends each request once: package objects retries.
package s3
