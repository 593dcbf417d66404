//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
)

// TestResumeKills kills runs with --resume at any moment, and compares the outputs of the
// last run with those of an undisturbed one. URLFOLD_KILLS is the number of kills.
func TestResumeKills(t *testing.T) {
	kills, _ := strconv.Atoi(cmp.Or(os.Getenv("URLFOLD_KILLS"), "8"))
	dir := t.TempDir()
	in, out, want := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "want")
	rng := rand.New(rand.NewPCG(35, 5))
	inputs := resumeInputs(t, in)
	run := func(args ...string) {
		t.Helper()
		cmd, stderr := program(t, append([]string{"--quiet"}, args...)...)
		if err := cmd.Run(); err != nil {
			t.Fatal(err, stderr)
		}
	}
	began := time.Now()
	run("--output-dir", want, in)
	long := int64(time.Since(began))
	for hit := 0; hit < kills; {
		cmd, _ := program(t, "--quiet", "--resume", "--output-dir", out, in)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The time of the kill is random: no moment is safe by itself.
		timer := time.AfterFunc(time.Duration(rng.Int64N(long)), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if err != nil {
			hit++
			continue
		}
		compareTrees(t, out, want)
		writeResumeInput(t, inputs[rng.IntN(len(inputs))], rng.IntN(2000)+1, hit)
		run("--force", "--output-dir", want, in)
		for name := range modTimes(t, out) { // half of the outputs are gone
			if rng.IntN(2) == 0 {
				if err := os.Remove(filepath.Join(out, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	run("--resume", "--output-dir", out, in)
	compareTrees(t, out, want)

	// Nothing is left to do.
	before := modTimes(t, out)
	cmd, stderr := program(t, "--resume", "--output-dir", out, in)
	if err := cmd.Run(); err != nil || !strings.Contains(stderr.String(), fmt.Sprintf("finished before%23d ", len(inputs))) {
		t.Errorf("%v: %s", err, stderr)
	}
	for name, at := range modTimes(t, out) {
		if filepath.Base(name) != disk.RecordName && !at.Equal(before[name]) {
			t.Errorf("%s was made again", name)
		}
	}
}

// resumeInputs writes a folder of logs, and returns their names.
func resumeInputs(t *testing.T, dir string) (names []string) {
	t.Helper()
	for i := range 24 {
		name := filepath.Join(dir, strconv.Itoa(i%3), fmt.Sprintf("%d.log%s", i, []string{"", ".gz", ".zst"}[i%3]))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		writeResumeInput(t, name, i*i*10+1, i)
		names = append(names, name)
	}
	return names
}

// writeResumeInput writes a log of n lines.
func writeResumeInput(t *testing.T, name string, n, seed int) {
	t.Helper()
	var b []byte
	for i := range n {
		b = fmt.Appendf(b, "192.0.2.%d - - [02/Nov/2026:06:25:00 +0100] \"GET /%%7ea?b=%d HTTP/1.1\" 200 %d\n", i%250, i*7919+seed, i)
	}
	if format, _, _ := compress.ParseFormat("", name); format != compress.Plain {
		pack, err := compress.NewPack(format, 0)
		if err != nil {
			t.Fatal(err)
		}
		b = pack(nil, b)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// compareTrees checks that two folders have the same files, without the record.
func compareTrees(t *testing.T, got, want string) {
	t.Helper()
	a, b := modTimes(t, got), modTimes(t, want)
	delete(a, disk.RecordName)
	for name := range a {
		if _, there := b[name]; !there {
			t.Errorf("%s is left over", name)
		}
	}
	for name := range b {
		x, err1 := os.ReadFile(filepath.Join(got, name))
		y, err2 := os.ReadFile(filepath.Join(want, name))
		if err1 != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs: %v, %v, %d and %d bytes", name, err1, err2, len(x), len(y))
		}
	}
}

// modTimes returns the files below dir with their times of modification.
func modTimes(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	times := map[string]time.Time{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		times[rel] = fi.ModTime()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return times
}
