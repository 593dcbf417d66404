//go:build !unix

package service

import "context"

// onHangup does nothing: there is no SIGHUP on this system. Use run --watch.
func onHangup(context.Context, func()) (stop func()) { return func() {} }
