package memory

import (
	"math"
	"runtime/debug"
	"slices"
	"testing"
	"testing/fstest"
)

const mib = 1 << 20

func TestFindLimit(t *testing.T) {
	f := func(configured, inherited, cgroup int64, want Limit) {
		t.Helper()
		if got := findLimit(configured, inherited, cgroup); got != want {
			t.Errorf("findLimit(%d, %d, %d) = %+v, want %+v", configured, inherited, cgroup, got, want)
		}
	}
	f(0, 0, 0, Limit{})
	f(512, 0, 0, Limit{512, "memory_limit"})
	f(512, 256, 0, Limit{512, "memory_limit"})
	f(0, 256, 0, Limit{256, "GOMEMLIMIT"})
	f(0, 0, 1000, Limit{900, "cgroup"})
	f(512, 0, 1000, Limit{512, "memory_limit"})
	f(2000, 0, 1000, Limit{900, "cgroup"})
	f(0, 2000, 1000, Limit{900, "cgroup"})
}

func TestApply(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	f := func(want int64) {
		t.Helper()
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("the runtime's limit is %d MiB, want %d", got/mib, want/mib)
		}
	}
	Outside(100 * mib)
	f(before)
	var calls []int64
	exceeded := func(outside int64) { calls = append(calls, outside/mib) }
	Limit{Bytes: 700 * mib}.Apply(exceeded)
	f((700 - 24 - 100) * mib)
	Outside(20 * mib)
	f((700 - 24 - 120) * mib)
	Outside(mib - 1) // too little to change the limit
	f((700 - 24 - 120) * mib)
	Outside(1)
	f((700 - 24 - 121) * mib)
	Outside((700*3/4 - 24 - 121) * mib)
	f(700 / 4 * mib)
	if calls != nil || Needed(501*mib) != 700*mib+1 {
		t.Errorf("exceeded by %d MiB; %d bytes are needed", calls, Needed(501*mib))
	}
	for range 2 {
		Outside(100 * mib)
		f(700 / 4 * mib)
	}
	if !slices.Equal(calls, []int64{601}) {
		t.Errorf("exceeded by %d MiB", calls)
	}
	Limit{Bytes: 600 * mib}.Apply(exceeded)
	if !slices.Equal(calls, []int64{601, 701}) {
		t.Errorf("exceeded by %d MiB", calls)
	}
	Outside(-701 * mib)
	f((600 - 24) * mib)
	Limit{}.Apply(exceeded)
	f(math.MaxInt64)
	if l := FindLimit(0); l.From == "GOMEMLIMIT" {
		t.Errorf("FindLimit(0) = %+v, which is the limit of Apply", l)
	}
}

func TestCgroupLimit(t *testing.T) {
	f := func(want int64, files map[string]string) {
		t.Helper()
		root := fstest.MapFS{}
		for name, text := range files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := cgroupLimit(root); got != want {
			t.Errorf("%v: limit %d, want %d", files, got, want)
		}
	}
	const self = "proc/self/cgroup"
	f(0, nil)
	f(0, map[string]string{self: "0::/a/b\n"})
	f(7, map[string]string{self: "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "7\n"})
	// A group is limited by those above it.
	f(5, map[string]string{self: "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "7\n", "sys/fs/cgroup/a/memory.max": "5\n"})
	f(5, map[string]string{self: "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/memory.max": "5\n"})
	f(0, map[string]string{self: "0::/\n", "sys/fs/cgroup/memory.max": "max\n"})
	// A container that does not see the path of its group.
	f(9, map[string]string{self: "0::/../..\n", "sys/fs/cgroup/memory.max": "9\n"})
	// Version 1.
	f(8, map[string]string{
		self: "12:cpu,cpuacct:/x\n4:memory:/docker/1\n1:name=systemd:/y\n",
		"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "8\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes":          "9223372036854771712\n",
	})
	f(0, map[string]string{self: "nonsense\n0:x\n\n0::/a", "sys/fs/cgroup/a/memory.max": "-3"})
}

func TestFit(t *testing.T) {
	load := Load{BatchBytes: 128 << 10, MaxBatches: 64, MaxBytes: 64 * mib, MaxRecordBytes: mib, Workers: 4}
	f := func(limit int64, change func(*Load), batches int, tight bool) {
		t.Helper()
		l := load
		if change != nil {
			change(&l)
		}
		if got := (Limit{Bytes: limit}).Fit(l); got.Batches != batches || got.Tight != tight {
			t.Errorf("limit %d, %+v: %+v, want %d batches, tight %v", limit, l, got, batches, tight)
		}
	}
	f(0, nil, 64, false)
	f(512*mib, nil, 64, false)
	f(0, func(l *Load) { l.MaxBytes = mib }, 8, false)
	f(0, func(l *Load) { l.MaxBytes = 1 }, 4, false)
	// 50 MiB - 32 MiB - 8 MiB = 10 MiB, in batches of 512 KiB.
	f(100*mib, nil, 20, false)
	f(84*mib, nil, 4, false)
	f(83*mib, nil, 4, true)
	f(mib, nil, 4, true)
	f(512*mib, func(l *Load) { l.BatchBytes = 64 * mib }, 4, true)
	f(0, func(l *Load) { *l = Load{} }, 4, false)
	// 84 MiB are for the minimum number of batches and 6 for the minimum of
	// keys. Of the rest, half is for keys and a quarter for room.
	f(100*mib, func(l *Load) { l.Keys = 256 * mib }, 6, false)
	f(100*mib, func(l *Load) { l.Keys = 3 * mib }, 10, false)
	f(90*mib, func(l *Load) { l.Keys = 256 * mib }, 4, false)
	f(89*mib, func(l *Load) { l.Keys = 256 * mib }, 4, true)
	load.Keys = 256 * mib
	for limit, want := range map[int64][2]int64{0: {256, 256}, 1: {2, 16}, 100: {7, 26}, 180: {47, 106}, 2048: {256, 256}} {
		if b := (Limit{Bytes: limit * mib}).Fit(load); b.Keys != want[0]*mib || int64(b.Room) != want[1]<<10 || limit == 100 && b.Least() != 90*mib {
			t.Errorf("limit %d: %+v, want %d MiB and %d Ki keys", limit, b, want[0], want[1])
		}
	}
	if b := (Limit{}).Fit(load); b.PerBatch != 512<<10 || b.Fixed != 40*mib {
		t.Errorf("%+v", b)
	}
}
