// Package disk makes files durable. It adds what package os lacks for this:
// locks that end with the process, syncing and checking of folders, and opening
// of files for writing only if that is safe. All changes of files and names
// that must survive a crash go through this package, so that a test can record
// them: see [RecordEnv].
//
// # Files
//
//	file.go, creatable.go                          files that must survive, and paths that must
//	                                               not be written
//	disk_unix.go, disk_other.go, kernel_linux.go,  what differs between systems
//	kernel_other.go, limit_unix.go, limit_other.go
//	attributes.go                                  modes, owners and times that are copied
//	temporary.go                                   files that end with the process
//	transient.go                                   errors that can pass
//	record.go, record_on.go, record_off.go         a record of all changes, for tests
package disk

import "errors"

// ErrLocked means that another process, or another open file of this process,
// holds the lock.
var ErrLocked = errors.New("another process has it locked")
