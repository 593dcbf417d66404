//go:build faults

package fault

import (
	"os"
	"sync"
)

// Enabled reports whether the program was built with the tag faults.
const Enabled = true

// plan is the plan in the environment. A mistake in it causes a panic, because
// a test whose faults never fire would prove nothing.
var plan = sync.OnceValue(func() *Plan {
	p, err := Parse(os.Getenv(Env))
	if err != nil {
		panic(Env + ": " + err.Error())
	}
	return p
})

// At performs the action that the environment configures for the point name. It
// returns the error with which the operation there must fail, or nil.
func At(name string) error { return plan().At(name) }
