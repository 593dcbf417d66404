//go:build unix

package testkit

import (
	"net"
	"os"
	"syscall"
	"testing"
)

// Hold reserves a TCP address of IPv4 for a server that is stopped and
// restarted later: until release is called, connections are refused and no
// other process can get the port.
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
	// Connections of the stopped server may still exist.
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())})
	}
	if err != nil {
		_ = syscall.Close(fd)
		t.Fatalf("cannot reserve %s: %v", addr, err)
	}
	return func() { _ = syscall.Close(fd) }
}
