// Package testkit provides substitutes for tests of sources and sinks, such as
// a Runtime that records what a source emits and detects violations of its
// contract. Only tests import it.
package testkit
