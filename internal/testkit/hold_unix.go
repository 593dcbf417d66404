//go:build unix

package testkit

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/ground/pause"
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
		at := &syscall.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())}
		err = syscall.Bind(fd, at)
		// A process that is being started has a copy of the closed listener until its exec.
		for try := 0; errors.Is(err, syscall.EADDRINUSE) && try < 500; try++ {
			if err = pause.For(t.Context(), 10*time.Millisecond); err == nil {
				err = syscall.Bind(fd, at)
			}
		}
	}
	if err != nil {
		_ = syscall.Close(fd)
		t.Fatalf("cannot reserve %s: %v", addr, err)
	}
	return func() { _ = syscall.Close(fd) }
}
