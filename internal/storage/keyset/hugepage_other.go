//go:build unix && !linux

package keyset

// wantHugePages does nothing.
func wantHugePages([]byte) {}
