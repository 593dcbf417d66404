package field

import "errors"

// An Error reports a mistake in one key of a configuration struct. A Validate
// method returns one, or several joined by [errors.Join], and package config
// adds the file, line and column of the key.
type Error struct {
	// Field is the key, or a path of keys relative to the struct: "tls.ca_file",
	// "topics[1]".
	Field string
	// Err says what is wrong. Its text must not repeat a value, which may be a
	// secret.
	Err error
	// With lists other keys that the mistake depends on. If one of these keys,
	// or Field, is itself wrong, the error is dropped, because it may be only a
	// consequence.
	With []string
}

// Error returns the key and what is wrong: "tls.ca_file: has no key_file".
func (e *Error) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Wrong returns an [Error] about a key with a text. Not covered by the stability page.
func Wrong(key, text string, with ...string) error {
	return &Error{Field: key, Err: errors.New(text), With: with}
}

// Errors collects the mistakes that a Validate method finds.
// Not covered by the stability page.
type Errors []error

// Wrong adds an [Error] with a text.
func (e *Errors) Wrong(key, text string, with ...string) { *e = append(*e, Wrong(key, text, with...)) }

// Add adds an [Error] unless err is nil.
func (e *Errors) Add(key string, err error) {
	if err != nil {
		*e = append(*e, &Error{Field: key, Err: err})
	}
}
