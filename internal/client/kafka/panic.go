package kafka

import (
	"fmt"
	"runtime/debug"

	"github.com/urlfold/urlfold/internal/ground/redact"
)

// A PanicError is a panic in a goroutine that works on the answers of a broker.
type PanicError struct {
	value any
	stack []byte
}

// Error returns the panic and its stack, but no record.
func (e *PanicError) Error() string {
	return fmt.Sprintf("BUG: panic: %s\n%s", redact.Panic(e.value), e.stack)
}

// Caught returns the PanicError of v, which the caller has recovered. It returns nil
// for nil.
func Caught(v any) error {
	if v == nil {
		return nil
	}
	return &PanicError{value: v, stack: debug.Stack()}
}
