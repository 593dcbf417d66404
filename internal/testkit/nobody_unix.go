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

// nobody is the user and group without rights on most systems.
const nobody = 65534

// AsNobody reports whether the test that calls it runs as a user whom permissions
// hold. If root runs it, whom they do not, the test is run again by nobody, with all
// its output, and false is returned: there is nothing left to do.
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

// copyForAll makes a copy of a program that everybody may run. A process that
// another test forks while the copy is open for writing would hold that
// descriptor until it calls exec, and the copy could not be run before ("text
// file busy"). So there is no fork meanwhile.
func copyForAll(to, from string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // it was only read
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		_ = dst.Close() // err is what went wrong
		return err
	}
	return dst.Close()
}
