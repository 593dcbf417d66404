//go:build !unix

package testkit

import "testing"

// AsNobody skips the test, because permissions work differently on this system.
func AsNobody(t *testing.T) bool {
	t.Helper()
	t.Skip("needs Unix file permissions")
	return false
}
