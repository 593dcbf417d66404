package s3

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// cause returns the text of an error of a connection, without the URL of the
// request.
func cause(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	text := err.Error()
	if strings.HasPrefix(text, "Connection closed by foreign host") { // and the URL follows
		return "connection closed by the store"
	}
	return text
}
