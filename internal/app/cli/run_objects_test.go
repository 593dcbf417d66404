//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// fromObjects is a configuration that reads objects once, exactly.
const fromObjects = `version: 1
data_dir: state
sources:
  - s3: {from: lines, name: in, include: ["s3://bucket/in"], mode: batch, restart_point_every: 1MiB}
codec: {profile: equiv}
sinks:
  - file: {name: out, path: "out/{source.relpath}", exactly_once: true}
commit_interval: 20ms
`

// putInputs stores plain and compressed objects of URLs, and returns all the URLs,
// sorted.
func putInputs(srv *s3test.Server, n int) (want []string) {
	for i := range 6 {
		var b, z bytes.Buffer
		for k := range n {
			line := fmt.Sprintf("http://h%d.example/%d?x=%d", i, k, (k*7919)%n)
			want = append(want, line)
			fmt.Fprintln(&b, line)
		}
		key := fmt.Sprintf("in/%d.log", i)
		if data := b.Bytes(); i%2 == 0 {
			srv.Put(key, data)
		} else {
			w := gzip.NewWriter(&z)
			_, _ = w.Write(data) // a buffer takes everything
			_ = w.Close()
			srv.Put(key+".gz", z.Bytes())
		}
	}
	slices.Sort(want)
	return want
}

// killed runs d to its end, killing it at random moments, and returns how often.
func (d *daemonRun) killed(srv *s3test.Server, kills int) {
	d.t.Helper()
	rng := rand.New(rand.NewPCG(41, uint64(kills)))
	srv.SetFault(func(http.ResponseWriter, *http.Request) bool {
		time.Sleep(10 * time.Millisecond) // a store is not that quick
		return false
	})
	hits := 0
	for hits < kills {
		d.start()
		select {
		case <-time.After(time.Duration(50+rng.IntN(200)) * time.Millisecond):
			_ = d.cmd.Process.Kill() // it may have ended
			<-d.done
			hits++
		case <-d.done:
		}
		if d.err == nil {
			break
		}
	}
	d.start()
	<-d.done
	if d.err != nil {
		d.t.Fatal(d.err)
	}
	d.t.Logf("killed %d times", hits)
	if hits < 2 {
		d.t.Errorf("killed %d times: the test shows nothing", hits)
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
	srv := s3test.New(t)
	want := putInputs(srv, 400_000)
	d := newRun(t, fromObjects)
	d.killed(srv, objectKills())
	var got []string
	outs, _ := filepath.Glob(filepath.Join(d.dir, "out", "*"))
	for _, name := range outs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Fields(string(text))...)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%d records in %d outputs, want %d, each once", len(got), len(outs), len(want))
	}
}
