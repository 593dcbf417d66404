package memory

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// cgroupLimit returns the lowest memory limit of the control groups of the
// process, in bytes, or 0 if there is no limit. root is the root of the file
// system.
//
// The limits of all ancestors apply to a group, so cgroupLimit reads each
// directory up to the root. Inside a container, the path of the group may not
// be visible; the visible root is then the container's own group.
func cgroupLimit(root fs.FS) int64 {
	list, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := int64(0)
	for line := range strings.Lines(string(list)) {
		// hierarchy:controllers:path, cgroups(7)
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		mount, file := "", ""
		switch {
		case id == "0" && controllers == "":
			mount, file = "sys/fs/cgroup", "memory.max"
		case strings.Contains(","+controllers+",", ",memory,"):
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
			if n := readLimit(root, path.Join(mount, dir, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

// readLimit returns the number in a file. It returns 0 for no limit ("max", or
// in cgroup v1 a huge number) and if the file cannot be read.
func readLimit(root fs.FS, name string) int64 {
	const unlimited = 1 << 60
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n < 0 || n >= unlimited {
		return 0
	}
	return n
}
