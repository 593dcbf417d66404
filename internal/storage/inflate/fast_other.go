//go:build !amd64

package inflate

// run decodes symbols.
func (l *loop) run() { l.portable() }
