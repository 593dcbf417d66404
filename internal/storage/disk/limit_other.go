//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

// MaxOpen returns 0: the limit is unknown.
func MaxOpen() int64 { return 0 }
