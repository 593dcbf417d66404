// Package endtoend has no code of its own. Its tests kill and scale the real program,
// in a process of its own, between brokers, and count what came out.
package endtoend
