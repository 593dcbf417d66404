package codec

// An Error says why a URL has no reading under the chosen grammar. Its place is
// in Result.ErrAt. An Error is one byte, so returning it as an error does not
// allocate; compare it with == or errors.Is. The zero Error is no error.
type Error uint8

// The errors. Their names are stable.
const (
	ErrTooLong     Error = iota + 1 // longer than Profile.MaxLen
	ErrHostInvalid                  // brackets that do not match, or text after them (RFC 3986 §3.2.2)
	ErrBadEscape                    // a '%' that starts no escape, under a profile that refuses it
	ErrBase                         // the base is not an absolute URL (RFC 3986 §5.1)
	ErrKey                          // ParseKey only: not 32 hex digits

	// NumErrors is one more than the highest Error.
	NumErrors = iota + 1
)

var errorNames = [NumErrors]string{
	ErrTooLong:     "url-too-long",
	ErrHostInvalid: "host-invalid",
	ErrBadEscape:   "escape-invalid",
	ErrBase:        "base-invalid",
	ErrKey:         "key-invalid",
}

var errorTexts = [NumErrors]string{
	ErrTooLong:     "the URL is longer than the limit",
	ErrHostInvalid: "the brackets of the host do not match, or text follows them",
	ErrBadEscape:   "a '%' is not followed by two hex digits",
	ErrBase:        "the base is not an absolute URL",
	ErrKey:         "a key is 32 hex digits",
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
