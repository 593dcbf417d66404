//go:build unix

package testkit

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// nobody is the ID of the user and group without privileges on most systems.
const nobody = 65534

// AsNobody reports whether the calling test runs as a user who is subject to
// file permissions. If it runs as root, AsNobody runs the test again as nobody,
// in a separate process, and returns false: the caller must then return.
func AsNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary := filepath.Join(dir, "test")
	if err := copyForAll(binary, os.Args[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run", "^"+regexp.QuoteMeta(t.Name())+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	return false
}

// copyForAll copies a program and makes it executable for everybody. It
// prevents forks meanwhile: a process forked by another test while the copy is
// open for writing would keep that descriptor until it calls exec, and until
// then the copy could not be executed ("text file busy").
func copyForAll(to, from string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // opened only for reading
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		_ = dst.Close() // err is the cause
		return err
	}
	return dst.Close()
}
