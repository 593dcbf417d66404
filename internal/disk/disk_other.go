//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import "os"

// Lock does nothing: there is no lock that ends with the process.
func Lock(*os.File) error { return nil }

// SyncDir does nothing: a folder cannot be synced.
func SyncDir(string) error { return nil }

// Writable does nothing: the first file will tell.
func Writable(string) error { return nil }
