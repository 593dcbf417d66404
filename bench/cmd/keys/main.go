// Command keys measures sets of 128-bit keys: how long it takes to add keys and to ask
// for them, and how much memory and disk a key needs.
//
//	go run ./cmd/keys -n 10000000 -set memory,spill,store,map,pebble
//
// Each set runs in a separate process, on one processor. Probes ask for keys in
// batches of 400: first for keys that are not in the set, then for keys that are.
// All times are processor time.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/urlfold/urlfold/internal/storage/keyset"
)

// A set is an implementation of a set of keys that is measured.
type set interface {
	// add adds keys, and sets added[i] if keys[i] is new.
	add(keys []keyset.Key, added []bool) error
	has(keys []keyset.Key, is []bool) error
	// done is called after the last add. The set must be durable then, if it is on
	// disk.
	done() error
}

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 10_000_000, "number of keys")
	sets := flag.String("set", "memory,spill,store,map,pebble", "sets to measure")
	memory := flag.Int64("memory", 192<<20, "bytes of memory of spill, store and pebble")
	child := flag.Bool("child", false, "measure in this process")
	flag.Parse()
	if *child {
		if err := measure(*sets, *n, *memory); err != nil {
			log.Fatal(err)
		}
		return
	}
	fmt.Printf("%-8s %12s %10s %10s %10s %9s %9s\n", "set", "keys", "add M/s", "probe new", "probe old", "RSS MiB", "disk MiB")
	for name := range strings.SplitSeq(*sets, ",") {
		cmd := exec.Command(os.Args[0], "-child", "-set", name, "-n", strconv.Itoa(*n), "-memory", strconv.FormatInt(*memory, 10))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		if err := cmd.Run(); err != nil {
			log.Fatal(err)
		}
	}
}

// key returns key i of a sequence of hashes.
func key(i uint64) keyset.Key {
	return keyset.Key{Hi: mix(i), Lo: mix(^i)}
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

const batch = 400

func measure(name string, n int, memory int64) error {
	dir, err := os.MkdirTemp("", "keys-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := open(name, dir, memory)
	if err != nil {
		return err
	}
	keys, is := make([]keyset.Key, batch), make([]bool, batch)
	start := cpu()
	for i := 0; i < n; i += batch {
		for j := range keys {
			keys[j] = key(uint64(i + j))
		}
		if err := s.add(keys, is); err != nil {
			return err
		}
		for j, added := range is {
			if !added {
				return fmt.Errorf("%s: key %d is not new", name, i+j)
			}
		}
	}
	if err := s.done(); err != nil {
		return err
	}
	adding := cpu() - start
	newTime, err := probe(s, n, 1<<40, false)
	if err != nil {
		return err
	}
	oldTime, err := probe(s, n, 0, true)
	if err != nil {
		return err
	}
	var size int64
	err = filepath.Walk(dir, func(_ string, fi os.FileInfo, err error) error {
		if err == nil && !fi.IsDir() {
			size += fi.Size()
		}
		return err
	})
	fmt.Printf("%-8s %12d %10.2f %10.2f %10.2f %9d %9d\n", name, n, float64(n)/adding.Seconds()/1e6, newTime, oldTime, peak()>>20, size>>20)
	return err
}

// probe asks for keys in random order, and returns millions of keys per second of
// processor time.
func probe(s set, n int, from uint64, want bool) (float64, error) {
	probes := min(n, 2_000_000)
	keys, is := make([]keyset.Key, batch), make([]bool, batch)
	start := cpu()
	for i := 0; i < probes; i += batch {
		for j := range keys {
			at, _ := bits.Mul64(mix(uint64(i+j)), uint64(n/batch*batch))
			keys[j] = key(from + at)
		}
		if err := s.has(keys, is); err != nil {
			return 0, err
		}
		for _, found := range is {
			if found != want {
				return 0, errors.New("wrong answer")
			}
		}
	}
	return float64(probes) / (cpu() - start).Seconds() / 1e6, nil
}

func open(name, dir string, memory int64) (set, error) {
	switch name {
	case "memory":
		return inMemory{keyset.New(keyset.Options{})}, nil
	case "spill":
		return inMemory{keyset.New(keyset.Options{MaxMemory: memory, Dir: dir})}, nil
	case "store":
		s, err := keyset.Create(filepath.Join(dir, "set"), keyset.Identity{}, keyset.Options{MaxMemory: memory}, false)
		return stored{s}, err
	case "map":
		return goMap{}, nil
	case "pebble":
		return openPebble(dir, memory)
	}
	return nil, fmt.Errorf("unknown set %q", name)
}

// inMemory is the set of --dedupe.
type inMemory struct{ *keyset.Set }

func (s inMemory) add(keys []keyset.Key, added []bool) error { return s.Add(keys, added) }
func (s inMemory) has(keys []keyset.Key, is []bool) error    { return s.HasAll(keys, is) }
func (inMemory) done() error                                 { return nil }

// stored is the set of urlfold seen.
type stored struct{ *keyset.Store }

func (s stored) add(keys []keyset.Key, added []bool) error { return s.Add(keys, added) }
func (s stored) has(keys []keyset.Key, is []bool) error    { return s.HasAll(keys, is) }
func (s stored) done() error                               { return s.Commit() }

type goMap map[keyset.Key]struct{}

func (m goMap) add(keys []keyset.Key, added []bool) error {
	for i, k := range keys {
		_, old := m[k]
		added[i] = !old
		m[k] = struct{}{}
	}
	return nil
}

func (m goMap) has(keys []keyset.Key, is []bool) error {
	for i, k := range keys {
		_, is[i] = m[k]
	}
	return nil
}
func (goMap) done() error { return nil }

// inPebble keeps keys without values. Its write-ahead log is off, because the
// store does without, too: both are durable after done.
type inPebble struct{ db *pebble.DB }

func openPebble(dir string, memory int64) (set, error) {
	o := &pebble.Options{
		DisableWAL: true, MemTableSize: uint64(memory) / 4, Cache: pebble.NewCache(memory / 4), Logger: silent{},
	}
	o.EnsureDefaults()
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(filepath.Join(dir, "db"), o)
	return inPebble{db}, err
}

func (s inPebble) add(keys []keyset.Key, added []bool) error {
	if err := s.has(keys, added); err != nil {
		return err
	}
	b := s.db.NewBatch()
	for i, k := range keys {
		if added[i] = !added[i]; added[i] {
			if err := b.Set(bytesOf(k), nil, nil); err != nil {
				return err
			}
		}
	}
	return b.Commit(pebble.NoSync)
}

func (s inPebble) has(keys []keyset.Key, is []bool) error {
	for i, k := range keys {
		_, c, err := s.db.Get(bytesOf(k))
		is[i] = err == nil
		switch {
		case err == nil:
			if err := c.Close(); err != nil {
				return err
			}
		case !errors.Is(err, pebble.ErrNotFound):
			return err
		}
	}
	return nil
}

func (s inPebble) done() error { return s.db.Flush() }

func bytesOf(k keyset.Key) []byte {
	b := make([]byte, 0, 16)
	for _, v := range [...]uint64{k.Hi, k.Lo} {
		for i := 56; i >= 0; i -= 8 {
			b = append(b, byte(v>>i))
		}
	}
	return b
}

// silent is a logger that writes nothing.
type silent struct{}

func (silent) Infof(string, ...any)           {}
func (silent) Errorf(string, ...any)          {}
func (silent) Fatalf(format string, a ...any) { log.Fatalf(format, a...) }

// cpu returns the processor time of the process.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak returns the greatest memory of the process, in bytes.
func peak() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	if runtime.GOOS == "darwin" {
		return u.Maxrss
	}
	return u.Maxrss << 10
}
