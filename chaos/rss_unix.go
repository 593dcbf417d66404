//go:build unix

package chaos

import (
	"os"
	"runtime"
	"syscall"
)

// maxRSS returns the peak resident memory in bytes of a process that has ended.
func maxRSS(s *os.ProcessState) int64 {
	ru, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(ru.Maxrss)
	}
	return int64(ru.Maxrss) << 10
}
