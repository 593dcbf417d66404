package nats

import (
	"errors"
	"strconv"

	client "github.com/nats-io/nats.go"
)

// A refusal is the JetStream error code of a stream that permanently refuses a
// message. errors.Is reports that it is ErrRefused.
type refusal int

// Error returns the text of ErrRefused.
func (refusal) Error() string { return ErrRefused.Error() }

// Is reports whether target is ErrRefused.
func (refusal) Is(target error) bool { return target == ErrRefused }

// Oversize reports whether err means that a message was refused because of its
// size.
func Oversize(err error) bool {
	return errors.Is(err, ErrRefused) || errors.Is(err, client.ErrMaxPayload)
}

// RefusalCode returns a short reason why a message can never be stored: the
// JetStream error code if err is ErrRefused, or the name of a client limit if
// [Refuses] reports true for err. It returns "" for other errors.
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
