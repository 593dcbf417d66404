package inflate

import "testing"

// eachLoop calls f with each fast loop that this processor can run.
func eachLoop(t *testing.T, f func(loop string)) {
	t.Helper()
	f(map[bool]string{true: "assembly", false: "portable"}[bmi2])
	if !bmi2 {
		return
	}
	bmi2 = false
	defer func() { bmi2 = true }()
	f("portable")
}
