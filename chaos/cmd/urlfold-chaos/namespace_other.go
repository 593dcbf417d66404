//go:build !linux

package main

import (
	"context"
	"errors"
)

func (*lab) unshared(context.Context, string) (*report, error) {
	return nil, skipError("mount namespaces require Linux")
}

func mountSmall(string, int) error { return errors.ErrUnsupported }
