// Package fault has named points at which a test may let the process die, an
// operation fail, or time pass. Code that does something durable names the places
// before and after it:
//
//	if err := fault.At("file.before_sync"); err != nil {
//		return err
//	}
//
// Without the build tag faults, [At] is an empty function: the call is inlined to
// nothing. With it the environment variable URLFOLD_FAULT says what happens where,
// as [Parse] reads it. A test that is built without the tag can make a [Plan] of its
// own and hand Plan.At to what it tests.
package fault

// Env is the environment variable that a process built with the tag faults reads
// once, at the first call of [At].
const Env = "URLFOLD_FAULT"
