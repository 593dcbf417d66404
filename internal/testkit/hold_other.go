//go:build !unix

package testkit

import "testing"

// Hold does nothing here: see the other one.
func Hold(testing.TB, string) (release func()) { return func() {} }
