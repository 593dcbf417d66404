package codec

// An Error says why a URL cannot be parsed by the chosen standard. The offset
// is in Result.ErrAt. An Error is one byte, so returning it as an error does
// not allocate; compare it with == or errors.Is. The zero Error means no error.
type Error uint8

// The errors. Their names (Error.Name) are stable.
const (
	ErrTooLong      Error = iota + 1 // longer than Profile.MaxLen
	ErrHostInvalid                   // the host cannot be parsed; a diagnostic says why
	ErrBadEscape                     // a '%' that starts no valid escape, in a profile with percent.MalformedReject
	ErrBase                          // the base is not an absolute URL (RFC 3986 §5.1)
	ErrHostMissing                   // no host, in a URL that has a special scheme or userinfo
	ErrPortInvalid                   // the port is not a number, or is above 65535
	ErrRelative                      // no scheme, and no base that a browser could resolve the URL against
	ErrMatchRejects                  // the program that the profile reproduces rejects the URL

	numErrors = iota + 1
)

var errorNames = [numErrors]string{
	ErrTooLong:      "url-too-long",
	ErrHostInvalid:  "host-invalid",
	ErrBadEscape:    "escape-invalid",
	ErrBase:         "base-invalid",
	ErrHostMissing:  "host-missing",
	ErrPortInvalid:  "port-invalid",
	ErrRelative:     "relative-without-base",
	ErrMatchRejects: "match-rejects",
}

var errorTexts = [numErrors]string{
	ErrTooLong:      "the URL is longer than the limit",
	ErrHostInvalid:  "the host is invalid",
	ErrBadEscape:    "a '%' is not followed by two hex digits",
	ErrBase:         "the base is not an absolute URL",
	ErrHostMissing:  "the host is missing",
	ErrPortInvalid:  "the port is invalid",
	ErrRelative:     "the URL is relative, and there is no base to resolve it against",
	ErrMatchRejects: "the program that the profile matches rejects the URL",
}

// Error returns a short description. It contains no part of the URL, which may
// hold a secret.
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
