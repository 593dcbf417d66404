// Package sources registers the built-in sources. Each has a folder of its own
// and does not import the others. contract_test.go holds the requirements for
// every source, as one test suite for all of them.
package sources
