//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import "os"

// Lock does nothing: this system has no lock that ends with the process.
func Lock(*os.File) error { return nil }

// syncDir does nothing: this system cannot sync a folder.
func syncDir(string) error { return nil }

// openFlags is empty: [Check] detects a link on this system, too.
const openFlags = 0

// ownership is not available on this system.
func ownership(os.FileInfo) (links uint64, foreign bool) { return 1, false }

// Writable does nothing: creating the first file shows whether dir is writable.
func Writable(string) error { return nil }

// owner is not available on this system.
func owner(os.FileInfo) (uid, gid int, known bool) { return 0, 0, false }
