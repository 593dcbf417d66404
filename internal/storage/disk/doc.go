// Package disk makes files durable. It adds to package os what that needs:
// locks that end with the process, syncing and checking of folders, and opening
// of files for writing only if that is safe. All changes of files and names
// that must survive a crash go through this package, so that a test can record
// them: see [RecordEnv].
package disk

import "errors"

// ErrLocked means that another process, or another open file of this process,
// holds the lock.
var ErrLocked = errors.New("another process has it locked")
