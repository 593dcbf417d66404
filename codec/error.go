package codec

// An Error says why a URL has no reading under the chosen grammar. Its place is
// in Result.ErrAt. An Error is one byte, so returning it as an error does not
// allocate; compare it with == or errors.Is. The zero Error is no error.
type Error uint8

// The errors. Their names are stable.
const (
	ErrTooLong     Error = iota + 1 // longer than Profile.MaxLen
	ErrHostInvalid                  // the host has no reading; a mark says why
	ErrBadEscape                    // a '%' that starts no escape, under a profile that refuses it
	ErrBase                         // the base is not an absolute URL (RFC 3986 §5.1)
	ErrHostMissing                  // a URL of a special scheme, or with userinfo, without a host
	ErrPortInvalid                  // not a number, or above 65535
	ErrRelative                     // no scheme, and no base that a browser could resolve it against
	ErrKey                          // ParseKey and KeyForm.Parse only: not a key in that form

	numErrors = iota + 1
)

var errorNames = [numErrors]string{
	ErrTooLong:     "url-too-long",
	ErrHostInvalid: "host-invalid",
	ErrBadEscape:   "escape-invalid",
	ErrBase:        "base-invalid",
	ErrHostMissing: "host-missing",
	ErrPortInvalid: "port-invalid",
	ErrRelative:    "relative-without-base",
	ErrKey:         "key-invalid",
}

var errorTexts = [numErrors]string{
	ErrTooLong:     "the URL is longer than the limit",
	ErrHostInvalid: "the host is invalid",
	ErrBadEscape:   "a '%' is not followed by two hex digits",
	ErrBase:        "the base is not an absolute URL",
	ErrHostMissing: "there is no host",
	ErrPortInvalid: "the port is invalid",
	ErrRelative:    "the URL is relative, and there is no base for it",
	ErrKey:         "this is no key: 32 hex digits, 26 base32 digits or 16 bytes, by its form",
}

// Error returns a short description. It never holds any part of the URL, which
// may be secret.
func (e Error) Error() string {
	if int(e) < len(errorTexts) {
		return errorTexts[e]
	}
	return "unknown error"
}

// Name returns the error's name as it appears in output: "host-invalid". The
// name of the zero Error is "ok".
func (e Error) Name() string {
	if e == 0 {
		return "ok"
	}
	if int(e) < len(errorNames) {
		return errorNames[e]
	}
	return "unknown"
}

// ParseError returns the error of that name.
func ParseError(name string) (Error, error) {
	for e, n := range errorNames {
		if n == name && name != "" {
			return Error(e), nil
		}
	}
	return 0, &NameError{"error", name}
}
