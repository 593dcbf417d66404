package changelog

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// windowedOf returns the configuration of a set whose windows are hours.
func windowedOf(conn connect.Kafka) Config {
	cfg := configOf(conn, "equivalent")
	cfg.Identity["window"] = "1h"
	cfg.Window = &engine.Window{Size: time.Hour, Lateness: time.Hour}
	return cfg
}

// inWindow returns entries of a window.
func inWindow(window uint32, list []engine.FirstKey) []engine.FirstKey {
	for i := range list {
		list[i].Window = window
	}
	return list
}

// left returns how many entries compaction leaves in a partition.
func left(t *testing.T, conn connect.Kafka, partition int) int {
	t.Helper()
	entries := map[string]bool{}
	for _, r := range kafkatest.Read(t, kafkatest.Client(t, conn, "log"), "log", parts)[partition] {
		if bytes.Equal(r.Key, []byte(identityKey)) {
			continue
		}
		entries[string(r.Key)] = r.Value != nil
	}
	n := 0
	for _, is := range entries {
		n += b2i(is)
	}
	return n
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestForget: the entries of windows that are over are removed, also by an owner
// that has got them from another one, and those of other windows stay.
func TestForget(t *testing.T) {
	const n = 3*batchEntries + 7
	cluster, conn := cluster(t)
	l := laneOf(0)
	one := opened(t, windowedOf(conn))
	load(t, one, l, 0)
	for w := range uint32(3) {
		list := inWindow(100+w, entries(int(w)*n, n))
		seal(t, one, l, list)
		if err := one.Stored(l, list); err != nil {
			t.Fatal(err)
		}
	}
	window := func(k int) uint32 { return 100 + uint32(k/n) }
	has := func(c *Changelog, least uint32) {
		t.Helper()
		for k := 0; k < 3*n; k += 101 {
			if got, err := c.Has(l, keyNo(k), window(k)); err != nil || got != (window(k) >= least) {
				t.Fatalf("key %d of window %d: %v, %v", k, window(k), got, err)
			}
		}
	}
	forget := func(c *Changelog, least uint32) {
		t.Helper()
		if err := c.Forget(t.Context(), l, least); err != nil {
			t.Fatal(err)
		}
	}
	has(one, 100)
	forget(one, 101)
	has(one, 101)
	if got := left(t, conn, 0); got != 2*n {
		t.Errorf("%d entries are left, want %d", got, 2*n)
	}
	cluster.Compact()
	two := opened(t, windowedOf(conn))
	load(t, two, l, 3*n)
	has(two, 101)
	forget(two, 102)
	has(two, 102)
	if got := left(t, conn, 0); got != n {
		t.Errorf("%d entries are left, want %d", got, n)
	}
	if f := kafkatest.Figures(t, two); f["urlfold_dedupe_keys"] != n {
		t.Errorf("%v keys, want %d", f["urlfold_dedupe_keys"], n)
	}
	two.Drop(l)
	forget(two, 103)
	if got := left(t, conn, 0); got != n {
		t.Errorf("%d entries are left after Drop, want %d", got, n)
	}
}

// TestForgetLater: entries that the broker does not remove now are removed by the
// next call, and keys that have moved to files are removed, too.
func TestForgetLater(t *testing.T) {
	const n = 400_000
	cluster, conn := cluster(t)
	l := laneOf(0)
	cfg := windowedOf(conn)
	cfg.Dir = t.TempDir()
	c := opened(t, cfg)
	load(t, c, l, 0)
	list := inWindow(7, entries(0, n))
	seal(t, c, l, list)
	if err := c.Stored(l, list); err != nil {
		t.Fatal(err)
	}
	if f := kafkatest.Figures(t, c); f["urlfold_dedupe_disk_bytes"] == 0 {
		t.Error("no key has moved to a file")
	}
	refuse := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, Count: -1})
	if err := c.Forget(t.Context(), l, 8); kafka.CodeOf(err) == 0 {
		t.Errorf("%v, want an error of the broker", err)
	}
	refuse.Remove()
	for calls := 1; left(t, conn, 0) > 0; calls++ {
		if err := c.Forget(t.Context(), l, 8); err != nil {
			t.Fatal(err)
		}
		if calls > 3 {
			t.Fatalf("%d entries are left after %d calls", left(t, conn, 0), calls)
		}
	}
	if f := kafkatest.Figures(t, c); f["urlfold_dedupe_keys"] != 0 || f["urlfold_dedupe_disk_bytes"] != 0 {
		t.Errorf("%v keys, %v bytes of files", f["urlfold_dedupe_keys"], f["urlfold_dedupe_disk_bytes"])
	}
}

// TestDropWhileForgetting: a set that is dropped in the middle of forgetting
// releases everything.
func TestDropWhileForgetting(t *testing.T) {
	_, conn := cluster(t)
	c := opened(t, windowedOf(conn))
	s := c.newLaneSet(0)
	if err := s.addFirsts(inWindow(3, entries(0, 10))); err != nil {
		t.Fatal(err)
	}
	s.retire(9)
	if keys, err := s.piece(4); err != nil || len(keys) != 4 {
		t.Fatal(keys, err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if keys, err := s.piece(4); err != nil || len(keys) > 0 {
		t.Error(keys, err)
	}
	if err := s.add(nil, 3); !errors.Is(err, errDropped) {
		t.Error(err)
	}
}
