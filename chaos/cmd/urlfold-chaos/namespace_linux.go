package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// unshared runs an experiment in a process with its own mount namespace. If it
// is not root, it also creates a user namespace in which it is root.
func (l *lab) unshared(ctx context.Context, name string) (*report, error) {
	args := []string{"run", "-json", "-seed", strconv.FormatUint(l.seed, 10), "-dir", l.dir}
	if l.short {
		args = append(args, "-short")
	}
	// The file may be gone: go run keeps it in the build cache, which others trim.
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append(args, name)...)
	cmd.Dir = l.shared.root
	cmd.Env = append(os.Environ(), insideEnv+"="+l.shared.bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		return nil, skipError("cannot create namespaces: " + err.Error())
	}
	var r report
	if err2 := json.Unmarshal(out.Bytes(), &r); err2 != nil {
		return nil, fmt.Errorf("%w, %w: %s", err, err2, lastLines(errs.String(), 10))
	}
	return &r, nil
}

// mountSmall mounts a file system in memory with the given size in bytes.
func mountSmall(dir string, size int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	return syscall.Mount("none", dir, "tmpfs", 0, "size="+strconv.Itoa(size))
}
