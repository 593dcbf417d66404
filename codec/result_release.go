//go:build !invariants

package codec

// A seal does nothing in this build.
type seal struct{}

func (*seal) set(src, norm []byte)            {}
func (*seal) check(ok bool, src, norm []byte) {}
