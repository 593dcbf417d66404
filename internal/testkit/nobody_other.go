//go:build !unix

package testkit

import "testing"

// AsNobody skips the test: permissions are another thing here.
func AsNobody(t *testing.T) bool {
	t.Helper()
	t.Skip("permissions of files are those of Unix")
	return false
}
