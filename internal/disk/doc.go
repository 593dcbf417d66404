// Package disk has what making files durable needs of the operating system, and
// package os does not have: locks that end with the process, and folders that are
// synced or looked at.
package disk

import "errors"

// ErrLocked says that another process, or another open file of this one, has the
// lock.
var ErrLocked = errors.New("another process has it locked")
