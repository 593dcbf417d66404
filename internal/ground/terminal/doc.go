// Package terminal formats text for people: with colors and characters that the
// stream supports, without control characters that could manipulate the screen,
// and with readable numbers. It does not depend on URLs.
package terminal
