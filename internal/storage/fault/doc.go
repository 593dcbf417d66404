// Package fault provides named points at which a test can kill the process,
// make an operation fail, or delay it. Code that makes something durable names
// the points before and after that:
//
//	if err := fault.At("file.before_sync"); err != nil {
//		return err
//	}
//
// Without the build tag faults, [At] is an empty function, and calls to it are
// inlined away. With the tag, the environment variable URLFOLD_FAULT configures
// what happens at which point, in the syntax of [Parse]. A test built without
// the tag can create its own [Plan] and pass Plan.At to the code under test.
package fault

// Env is the environment variable that a process built with the tag faults
// reads once, at the first call of [At].
const Env = "URLFOLD_FAULT"
