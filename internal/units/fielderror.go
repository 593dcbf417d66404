package units

// A FieldError is an error of a Validate method of a struct of a configuration
// that belongs to one of its keys. The mistake is then told at the place of that
// key. Validate may join several of them.
type FieldError struct {
	Field string // the key, or keys with dots between them: "tls.ca_file"
	Err   error  // what is wrong; it repeats no value
	// Other keys that this hangs on. If there is a mistake in one of them, or in
	// Field, the error is left out: it may be but a consequence.
	With []string
}

// Error returns the key and what is wrong: "tls.ca_file: has no key_file".
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }
