// Package cputime measures how long a function keeps a processor busy, for tests
// that compare the work for inputs of different sizes.
package cputime
