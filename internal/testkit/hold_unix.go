//go:build unix

package testkit

import (
	"net"
	"os"
	"syscall"
	"testing"
)

// Hold keeps a TCP address of IPv4 for a server that is away and comes back to it:
// connections are refused, and the system gives the port to nobody else until release
// is called.
func Hold(t testing.TB, addr string) (release func()) {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(os.NewSyscallError("socket", err))
	}
	// The connections of the server that is gone may still be there.
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())})
	}
	if err != nil {
		_ = syscall.Close(fd)
		t.Fatalf("%s cannot be held: %v", addr, err)
	}
	return func() { _ = syscall.Close(fd) }
}
