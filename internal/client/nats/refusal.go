package nats

import (
	"errors"
	"strconv"

	client "github.com/nats-io/nats.go"
)

// A refusal is the error code of JetStream with which a stream refuses a message for
// good. It is ErrRefused.
type refusal int

// Error returns the text of ErrRefused.
func (refusal) Error() string { return ErrRefused.Error() }

// Is reports whether target is ErrRefused.
func (refusal) Is(target error) bool { return target == ErrRefused }

// RefusalCode returns a short name for why a message will never be taken: the error
// code of JetStream if err is ErrRefused, or the name of a limit of the client if
// [Refuses] reports true for it. It returns "" for other errors.
func RefusalCode(err error) string {
	var code refusal
	switch {
	case errors.As(err, &code):
		return strconv.Itoa(int(code))
	case errors.Is(err, client.ErrMaxPayload):
		return "MAX_PAYLOAD"
	case errors.Is(err, client.ErrBadSubject):
		return "BAD_SUBJECT"
	case errors.Is(err, client.ErrBadHeaderMsg):
		return "BAD_HEADER"
	}
	return ""
}
