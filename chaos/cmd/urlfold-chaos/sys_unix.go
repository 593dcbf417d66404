//go:build unix

package main

import (
	"os"
	"syscall"
)

// inode returns the inode number of a file, if it can be read.
func inode(path string) (uint64, bool) {
	fi, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Ino, true
}
