// Package terminal writes text for people: with colors and characters that the
// stream can show, without control characters that could change what is on the
// screen, and with numbers that are easy to read. It knows nothing of URLs.
package terminal
