// Package disk has what making files durable needs of the operating system, and
// package os does not have: locks that end with the process, folders that are
// synced or looked at, and files that are opened for writing only if they are what
// they seem to be. All changes of files and names that must survive a crash pass
// here, where a test can record them: see [RecordEnv].
package disk

import "errors"

// ErrLocked says that another process, or another open file of this one, has the
// lock.
var ErrLocked = errors.New("another process has it locked")
