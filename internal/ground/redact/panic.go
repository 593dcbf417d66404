package redact

import (
	"fmt"
	"runtime"
)

// Panic describes a panic without quoting the record, which may contain a
// password. Only errors of the runtime are known not to quote it.
func Panic(v any) string {
	if err, ok := v.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("value of type %T", v)
}
