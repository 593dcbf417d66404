package objects

import "errors"

// A Kind is why a request failed.
type Kind uint8

// The kinds of errors.
const (
	Failed      Kind = iota // the request failed for any other reason
	Temporary               // the request may succeed later
	Unreachable             // no answer; the request may succeed later
	NotFound                // no such object or bucket
	Denied                  // no permission, or no valid credentials
	Changed                 // the object is no longer the one that was listed
	Exists                  // the object must not exist, but does
	Archived                // the object cannot be read until restored
	NoUpload                // the upload was completed or aborted
	Unsupported             // the store does not have the request
)

// Lasting reports whether the same request will fail again, until somebody
// changes something.
func (k Kind) Lasting() bool {
	return k == Failed || k == NotFound || k == Denied || k == Archived
}

// An Error is the error of a request.
type Error struct {
	Kind   Kind
	Detail string // text of the store; printed as it is
}

// Error implements error.
func (e *Error) Error() string {
	text := ""
	switch e.Kind {
	case NotFound:
		text = "no such object or bucket"
	case Denied:
		text = "access denied"
	case Changed:
		return "object changed or was removed while it was being read; read it again"
	case Exists:
		return "object exists"
	case Archived:
		return "object is archived: restore it first, or leave it out with --exclude, or exclude in a configuration"
	case NoUpload:
		text = "no such upload"
	case Unsupported:
		text = "not supported by the store"
	}
	switch {
	case text == "":
		return e.Detail
	case e.Detail == "":
		return text
	}
	return text + ": " + e.Detail
}

// KindOf returns the kind of err, which is Failed if err is not an [*Error].
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Failed
}
