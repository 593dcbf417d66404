// Package layers holds the table of who may import whom in this module, and
// the test that keeps it: see layers_test.go. It has no code of its own.
package layers
