package kafka

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// A PanicError is a panic in a goroutine that works on the answers of a broker.
type PanicError struct {
	value any
	stack []byte
}

// Error returns the panic and its stack. Only errors of the runtime are known not to
// quote a record, which may contain a password.
func (e *PanicError) Error() string {
	text := fmt.Sprintf("value of type %T", e.value)
	if err, ok := e.value.(runtime.Error); ok {
		text = err.Error()
	}
	return fmt.Sprintf("BUG: panic: %s\n%s", text, e.stack)
}

// Caught returns the PanicError of v, which the caller has recovered. It returns nil
// for nil.
func Caught(v any) error {
	if v == nil {
		return nil
	}
	return &PanicError{value: v, stack: debug.Stack()}
}
