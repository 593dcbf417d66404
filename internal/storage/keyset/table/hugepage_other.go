//go:build unix && !linux

package table

// wantHugePages does nothing.
func wantHugePages([]byte) {}
