//go:build unix

package testkit

import (
	"net"
	"testing"
)

// TestHold checks that a held address refuses connections and cannot be used by
// others, and that a server can return to it although old connections are still
// open.
func TestHold(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	old, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	served, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = served.Close() }()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	release := Hold(t, addr)
	if c, err := net.Dial("tcp", addr); err == nil {
		_ = c.Close()
		t.Error("the held address accepts connections")
	}
	release()
	if ln, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
}
