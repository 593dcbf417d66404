// Package words contains a test that checks the words of this repository: its
// comments, messages and documents must not use certain phrases that read like a
// translation. It has no other code. To print the counts of the phrases that are
// only reported, and the places where they occur:
//
//	go test -count=1 -v ./internal/testkit/words
//	go test -count=1 -v ./internal/testkit/words -places
package words
