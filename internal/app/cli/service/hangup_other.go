//go:build !unix

package service

// onHangup does nothing: there is no SIGHUP on this system. Use run --watch.
func onHangup(func()) (stop func()) { return func() {} }
