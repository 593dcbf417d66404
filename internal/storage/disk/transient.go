package disk

import (
	"errors"
	"syscall"
)

// Exhausted reports whether err means that the process or the machine ran out
// of descriptors or memory, or that a call was interrupted. Such an error says
// nothing about the file: the caller should retry.
func Exhausted(err error) bool {
	for _, e := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EINTR, syscall.EAGAIN} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Unreachable reports whether err means that the storage did not answer: a disk
// or, more likely, a network share. Such an error may be temporary and says
// nothing about the content of the file.
func Unreachable(err error) bool {
	for _, e := range []syscall.Errno{
		syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EHOSTDOWN, syscall.EHOSTUNREACH,
		syscall.ENETDOWN, syscall.ENETUNREACH, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ENOTCONN,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
