//go:build faults

package fault

import (
	"os"
	"sync"
)

// Enabled reports whether the program was built with the tag faults.
const Enabled = true

// plan is what the environment asks for. A mistake in it ends the process: a test
// that hits nothing would prove nothing.
var plan = sync.OnceValue(func() *Plan {
	p, err := Parse(os.Getenv(Env))
	if err != nil {
		panic(Env + ": " + err.Error())
	}
	return p
})

// At does what the environment asks for at the point name, and returns the error
// that the operation there is to fail with.
func At(name string) error { return plan().At(name) }
