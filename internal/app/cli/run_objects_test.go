//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// fromObjects is a configuration that reads objects once, exactly.
const fromObjects = `version: 1
data_dir: state
sources:
  - s3: {from: lines, name: in, include: ["s3://bucket/in"], mode: batch}
codec: {profile: equiv}
sinks:
  - file: {name: out, path: "out/{source.relpath}", exactly_once: true}
commit_interval: 20ms
`

// A store is a bucket, and what serves it.
type store struct {
	*s3test.Server
	t      *testing.T
	client objects.Client
}

// eachStore runs a test with the store in the process, and with those of other
// projects if the process is killed many times.
func eachStore(t *testing.T, test func(t *testing.T, s *store)) {
	inMemory(t, test)
	for _, p := range s3test.Programs() {
		t.Run(p.Name, func(t *testing.T) {
			if os.Getenv("URLFOLD_KILLS") == "" || p.Name == s3test.Moto.Name {
				t.Skip("skipped: moto is too slow, and the others take minutes; make kill-objects")
			}
			srv, _ := p.Start(t)
			runStore(t, srv, test)
		})
	}
}

// inMemory runs a test with the store in this process.
func inMemory(t *testing.T, test func(t *testing.T, s *store)) {
	t.Run("memory", func(t *testing.T) { runStore(t, s3test.New(t), test) })
}

func runStore(t *testing.T, srv *s3test.Server, test func(t *testing.T, s *store)) {
	settings, err := s3.Parse("", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	client, err := s3.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	test(t, &store{srv, t, client})
}

func (s *store) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) put(key string, data []byte) {
	s.t.Helper()
	s.must(s.client.Put(s.t.Context(), "bucket", key, data, objects.Put{}))
}

// get returns the contents of all objects whose keys begin with prefix, by key.
func (s *store) get(prefix string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for o, err := range s.client.List(s.t.Context(), "bucket", prefix, "") {
		s.must(err)
		r, err := s.client.Get(s.t.Context(), o, 0, o.Size)
		s.must(err)
		text, err := io.ReadAll(r)
		s.must(errors.Join(err, r.Close()))
		all[o.Key] = string(text)
	}
	return all
}

// putInputs stores plain and compressed objects of URLs, and returns all the URLs,
// sorted.
func putInputs(srv *store, n int) (want []string) {
	for i := range 6 {
		var b, z bytes.Buffer
		if i == 2 {
			n /= 4 // the others fit into one request
		}
		for k := range n {
			line := fmt.Sprintf("http://h%d.example/%d?x=%d", i, k, (k*7919)%n)
			want = append(want, line)
			fmt.Fprintln(&b, line)
		}
		key := fmt.Sprintf("in/%d.log", i)
		if data := b.Bytes(); i%2 == 0 {
			srv.put(key, data)
		} else {
			w := gzip.NewWriter(&z)
			_, _ = w.Write(data) // a buffer takes everything
			_ = w.Close()
			srv.put(key+".gz", z.Bytes())
		}
	}
	slices.Sort(want)
	return want
}

// killed runs d to its end, killing it at random moments, and returns how often.
// With writes, it is killed every second time when the store has made an object or
// a part, and has not answered yet.
func (d *daemonRun) killed(srv *store, rng *rand.Rand, kills int, writes bool) (hits int) {
	d.t.Helper()
	var victim atomic.Pointer[os.Process]
	srv.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		time.Sleep(10 * time.Millisecond) // a store is not that quick
		p := victim.Load()
		completes := r.Method == http.MethodPut || r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
		if !completes || p == nil || time.Now().UnixNano()%4 > 0 || !victim.CompareAndSwap(p, nil) {
			return false
		}
		defer func() { _ = p.Kill() }() // it may have ended
		srv.Lose(w, r)
		return true
	})
	completing := 0
	for hits < kills {
		d.start()
		limit := time.Duration(20+rng.IntN(250)) * time.Millisecond
		if writes && hits%2 == 1 {
			limit = time.Minute
			victim.Store(d.cmd.Process)
		}
		select {
		case <-time.After(limit):
			_ = d.cmd.Process.Kill() // as above
			<-d.done
			hits++
		case <-d.done:
			if d.err != nil && writes {
				hits++
				completing++
			}
		}
		victim.Store(nil)
		if d.err == nil {
			break
		}
	}
	d.start()
	<-d.done
	if d.err != nil {
		d.t.Fatal(d.err)
	}
	d.t.Logf("killed %d times, %d of them when an object or a part was complete", hits, completing)
	return hits
}

// again calls run, which returns how often it has killed a process, until that is
// as often as URLFOLD_KILLS says.
func again(t *testing.T, run func(rng *rand.Rand, kills int) int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(41, 1))
	left, runs := objectKills(), 0
	for most := 10 * left; left > 0; runs++ {
		if runs == most { // each run can end before it is killed
			t.Fatalf("%d runs, and %d kills are left: the test shows too little", runs, left)
		}
		left -= run(rng, left)
	}
}

// objectKills is how often the tests of objects kill the process.
func objectKills() int {
	n, _ := strconv.Atoi(cmp.Or(os.Getenv("URLFOLD_KILLS"), "4"))
	return n
}

// TestObjectsKilled: the real program reads objects and is killed again and again.
// The outputs have each record once.
func TestObjectsKilled(t *testing.T) {
	eachStore(t, func(t *testing.T, srv *store) {
		want := putInputs(srv, 400_000)
		again(t, func(rng *rand.Rand, kills int) int {
			d := newRun(t, fromObjects)
			n := d.killed(srv, rng, kills, false)
			var got []string
			outs, _ := filepath.Glob(filepath.Join(d.dir, "out", "*"))
			for _, name := range outs {
				text, err := os.ReadFile(name)
				srv.must(err)
				got = append(got, strings.Fields(string(text))...)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%d records in %d outputs, want %d, each once", len(got), len(outs), len(want))
			}
			return n
		})
	})
}

// TestKafkaKilled: the real program writes the records of files and objects to Kafka
// with exactly_once, and is killed again and again. The topic has each record once.
func TestKafkaKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: the race detector makes its processes slow, and sinks/kafka runs under it; run without -short")
	}
	for name, source := range map[string]string{"file": inFiles, "object": inObjects} {
		stores := eachStore
		if source == inFiles {
			stores = inMemory
		}
		t.Run(name, func(t *testing.T) {
			stores(t, func(t *testing.T, srv *store) {
				want := putInputs(srv, 100_000)
				again(t, func(rng *rand.Rand, kills int) int {
					_, conn := kafkatest.Fake(t, kfake.SeedTopics(4, "out"))
					sink := fmt.Sprintf(`kafka: {name: out, brokers: [%q], topic: out, message_key: none, exactly_once: true}`, conn.Brokers[0])
					d := newRun(t, fmt.Sprintf(copying, source, sink))
					d.copyInputs(srv)
					n := d.killed(srv, rng, kills, false)
					var got []string
					for _, partition := range kafkatest.Read(t, kafkatest.Client(t, conn), "out", 4) {
						for _, r := range partition {
							got = append(got, string(r.Value))
						}
					}
					if slices.Sort(got); !slices.Equal(got, want) {
						t.Errorf("%d records, want %d, each once", len(got), len(want))
					}
					return n
				})
			})
		})
	}
}

// copying is a configuration that reads inputs once.
const copying = `version: 1
data_dir: state
sources:
  - %s
codec: {profile: equiv}
sinks:
  - %s
commit_interval: 20ms
`

// Sources of copying.
const (
	inFiles   = `file: {from: lines, name: in, include: ["in/*"], mode: batch}`
	inObjects = `s3: {from: lines, name: in, include: ["s3://bucket/in"], mode: batch}`
)

// toObjects is a sink of copying that writes objects exactly.
const toObjects = `s3: {name: out, path: "s3://bucket/out/{source.relpath}", exactly_once: true}`

// TestObjectsWrittenKilled: the real program writes objects and is killed again
// and again, also between the completion of an object and the checkpoint. The
// objects have each record once, and no upload is open.
func TestObjectsWrittenKilled(t *testing.T) {
	for name, source := range map[string]string{"file to object": inFiles, "object to object": inObjects} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, srv *store) {
				want := putInputs(srv, 600_000)
				again(t, func(rng *rand.Rand, kills int) int {
					d := newRun(t, fmt.Sprintf(copying, source, toObjects))
					d.copyInputs(srv)
					n := d.killed(srv, rng, kills, true)
					var got []string
					outs := srv.get("out/")
					for key, text := range outs {
						got = append(got, strings.Fields(text)...)
						srv.must(srv.client.Remove(t.Context(), "bucket", key))
					}
					if slices.Sort(got); !slices.Equal(got, want) || len(outs) != 6 {
						t.Errorf("%d records in %d outputs, want %d in 6, each once", len(got), len(outs), len(want))
					}
					if open, err := srv.client.Uploads(t.Context(), "bucket", ""); err != nil || len(open) > 0 {
						t.Errorf("open uploads: %v, error %v", open, err)
					}
					return n
				})
			})
		})
	}
}

// copyInputs copies the inputs to the folder of the run.
func (d *daemonRun) copyInputs(srv *store) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Join(d.dir, "in"), 0o755); err != nil {
		d.t.Fatal(err)
	}
	for key, text := range srv.get("in/") {
		write(d.t, filepath.Join(d.dir, filepath.FromSlash(key)), text)
	}
}
