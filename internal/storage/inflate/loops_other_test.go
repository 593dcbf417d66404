//go:build !amd64

package inflate

import "testing"

// eachLoop calls f with each fast loop that this processor can run.
func eachLoop(_ *testing.T, f func(loop string)) { f("portable") }
