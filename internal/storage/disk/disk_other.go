//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import "os"

// Lock does nothing: there is no lock that ends with the process.
func Lock(*os.File) error { return nil }

// syncDir does nothing: a folder cannot be synced.
func syncDir(string) error { return nil }

// openFlags are none: [Check] sees a link all the same.
const openFlags = 0

// ownership is not known here.
func ownership(os.FileInfo) (links uint64, foreign bool) { return 1, false }

// Writable does nothing: the first file will tell.
func Writable(string) error { return nil }
