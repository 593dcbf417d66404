package daemon

import (
	"net"
	"strings"
	"testing"
)

// TestAdminTaken: a batch beside a daemon runs although the default address is taken,
// but not if the configuration asks for that address.
func TestAdminTaken(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.log", "http://h/1\n")
	if l, err := net.Listen("tcp", "127.0.0.1:8686"); err == nil { // otherwise another process has it
		defer func() { _ = l.Close() }()
	}
	const written = "admin: {listen: \"127.0.0.1:8686\"}\n"
	log, err := runText(t, strings.Replace(exactly, "admin: {listen: \"\"}\n", "", 1))
	if err != nil || !strings.Contains(log, "default admin address is taken, running without admin server") {
		t.Errorf("%v\n%s", err, log)
	}
	if _, err := runText(t, strings.Replace(exactly, "admin: {listen: \"\"}\n", written, 1)); err == nil || !strings.Contains(err.Error(), "set admin.listen to another address") {
		t.Errorf("error %v", err)
	}
}
