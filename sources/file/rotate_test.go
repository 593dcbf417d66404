package file

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A logger writes numbered lines to a file and rotates it as logrotate does.
type logger struct {
	t    testing.TB
	rnd  *rand.Rand
	path string
	f    *os.File
	n    int      // lines written
	all  []string // lines written
	kept int      // maximum number of rotated files
	seq  int      // rotations
}

func newLogger(t testing.TB, path string, seed uint64) *logger {
	l := &logger{t: t, path: path, rnd: rand.New(rand.NewPCG(seed, 7)), kept: 1000}
	l.open()
	return l
}

func (l *logger) open() {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		l.t.Fatal(err)
	}
	l.f = f
}

// write writes n lines, some of them in two halves.
func (l *logger) write(n int) {
	for _, line := range numbered(filepath.Base(l.path), l.n, n) {
		half := l.rnd.IntN(len(line))
		for _, part := range []string{line[:half], line[half:]} {
			if _, err := io.WriteString(l.f, part); err != nil {
				l.t.Fatal(err)
			}
		}
		l.all = append(l.all, line)
		l.n++
	}
}

func (l *logger) must(err error) {
	if err != nil {
		l.t.Helper()
		l.t.Fatal(err)
	}
}

// shift renames NAME.1 to NAME.2, and so on.
func (l *logger) shift(ext string) {
	for i := l.kept; i >= 1; i-- {
		from := fmt.Sprintf("%s.%d%s", l.path, i, ext)
		if _, err := os.Stat(from); err == nil {
			l.must(os.Rename(from, fmt.Sprintf("%s.%d%s", l.path, i+1, ext)))
		}
	}
}

// squeeze compresses a file as gzip does: gradually, into a new file, and
// removes the old one at the end.
func (l *logger) squeeze(path string) {
	text, err := os.ReadFile(path)
	l.must(err)
	out, err := os.Create(path + ".gz")
	l.must(err)
	zw := gzip.NewWriter(out)
	for len(text) > 0 {
		n := min(len(text), 1+l.rnd.IntN(20000))
		_, err := zw.Write(text[:n])
		l.must(err)
		if l.rnd.IntN(2) == 0 {
			l.must(zw.Flush())
		}
		text = text[n:]
	}
	l.must(zw.Close())
	l.must(out.Close())
	l.must(os.Remove(path))
}

// create is logrotate's default: it renames the file, and the writer continues
// in it until it opens the new one.
func (l *logger) create() {
	l.shift("")
	l.must(os.Rename(l.path, l.path+".1"))
	l.write(l.rnd.IntN(20))
	l.must(l.f.Close())
	l.open()
}

// dateext is create with permanent names.
func (l *logger) dateext() {
	l.seq++
	l.must(os.Rename(l.path, fmt.Sprintf("%s-2026%04d", l.path, l.seq)))
	l.write(l.rnd.IntN(20))
	l.must(l.f.Close())
	l.open()
}

// compress is create, followed by compression of the renamed file.
func (l *logger) compress() {
	l.shift(".gz")
	l.must(os.Rename(l.path, l.path+".1"))
	l.must(l.f.Close())
	l.open()
	l.write(l.rnd.IntN(20))
	l.squeeze(l.path + ".1")
}

// delayed is create with compression at the next rotation.
func (l *logger) delayed() {
	l.shift(".gz")
	if _, err := os.Stat(l.path + ".1"); err == nil {
		l.must(os.Rename(l.path+".1", l.path+".2"))
		l.squeeze(l.path + ".2")
	}
	l.must(os.Rename(l.path, l.path+".1"))
	l.write(l.rnd.IntN(20))
	l.must(l.f.Close())
	l.open()
}

// copytruncate copies the file and truncates it. The writer does not write in
// between, because no reader could see that data.
func (l *logger) copytruncate() {
	l.shift("")
	src, err := os.Open(l.path)
	l.must(err)
	dst, err := os.Create(l.path + ".1")
	l.must(err)
	_, err = io.Copy(dst, src)
	l.must(err)
	l.must(src.Close())
	l.must(dst.Close())
	l.must(os.Truncate(l.path, 0))
}

// patient returns settings for rotations on a machine that may be slow:
// possible copies are given time. In the end, age ends the wait.
func patient(include ...string) Settings {
	s := quick(include...)
	s.RotateWait, s.DamageAfter = time.Minute, time.Minute
	s.ForgetAfter = 1e6 * time.Hour
	return s
}

// age makes everything old, so that files wrongly held back are read and none
// stays open. Only empty files remain held back.
func (d *daemon) age(l *logger) {
	until(l.t, "all files to be identified", func() bool {
		d.ahead.Add(int64(time.Minute))
		s := d.w.Stats()
		return s.Descriptors == 0 && s.Held <= l.empty()
	})
}

// empty returns the number of empty files.
func (l *logger) empty() (n int) {
	names, err := filepath.Glob(l.path + "*")
	l.must(err)
	for _, name := range names {
		if fi, err := os.Stat(name); err == nil && fi.Size() == 0 {
			n++
		}
	}
	return n
}

// TestRotation checks that while a file is written and rotated in every way,
// ten times a second or more, each line is emitted once and no descriptor stays
// open. With kills, the daemon is killed and restarted all the time.
func TestRotation(t *testing.T) {
	ways := map[string]func(*logger){
		"create": (*logger).create, "dateext": (*logger).dateext, "compress": (*logger).compress,
		"delaycompress": (*logger).delayed, "copytruncate": (*logger).copytruncate,
	}
	for name, rotate := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, data := t.TempDir(), t.TempDir()
			l := newLogger(t, filepath.Join(dir, "a.log"), 1)
			defer func() { _ = l.f.Close() }()
			sink := &shelf{}
			d := start(t, data, patient(dir+"/a.log*"), sink, nil)
			for range 15 {
				l.write(l.rnd.IntN(300))
				time.Sleep(time.Duration(l.rnd.IntN(40)) * time.Millisecond)
				rotate(l)
				l.write(l.rnd.IntN(50))
				time.Sleep(time.Duration(l.rnd.IntN(60)) * time.Millisecond)
			}
			until(t, "all lines", func() bool { return sink.count() >= len(l.all) })
			d.age(l)
			if s := d.w.Stats(); s.LostBytes > 0 {
				t.Errorf("%+v", s)
			}
			d.end()
			sink.check(t, l.all)
			if t.Failed() {
				for _, e := range d.w.cfg.Store.Entries("file") {
					t.Logf("%s %s %d/%d %s", e.ID[:6], filepath.Base(e.Path), e.Offset, e.Size, e.State)
				}
				names, _ := os.ReadDir(dir)
				var b strings.Builder
				for _, n := range names {
					b.WriteString(n.Name() + " ")
				}
				t.Log(b.String())
			}
		})
	}
}

// TestVeiled compresses and removes a file that is open but of which nothing
// was emitted yet: its text is not known, so the copy must wait.
func TestVeiled(t *testing.T) {
	dir := t.TempDir()
	l := newLogger(t, filepath.Join(dir, "a.log"), 3)
	l.write(300)
	sink := &shelf{stall: make(chan struct{})}
	d := start(t, t.TempDir(), patient(dir+"/a.log*"), sink, nil)
	until(t, "the file to be open", func() bool { return d.w.Stats().Open == 1 })
	l.compress()
	l.must(l.f.Close())
	until(t, "the copy to be held back", func() bool { return d.w.Stats().Held > 0 })
	time.Sleep(50 * time.Millisecond) // ten polls
	close(sink.stall)
	until(t, "all lines", func() bool { return sink.count() >= len(l.all) })
	d.age(l)
	d.end()
	sink.check(t, l.all)
}

// TestRotationAndCrashes kills and restarts the daemon while files are rotated.
// With outputs that are truncated to the stored extents, no line is lost or
// duplicated.
func TestRotationAndCrashes(t *testing.T) {
	ways := map[string]func(*logger){
		"create": (*logger).create, "dateext": (*logger).dateext, "compress": (*logger).compress,
		"delaycompress": (*logger).delayed, "copytruncate": (*logger).copytruncate,
	}
	for name, rotate := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, data := t.TempDir(), t.TempDir()
			l := newLogger(t, filepath.Join(dir, "a.log"), 2)
			defer func() { _ = l.f.Close() }()
			sink := &shelf{exact: true}
			d := start(t, data, patient(dir+"/a.log*"), sink, nil)
			for range 10 {
				l.write(100 + l.rnd.IntN(200))
				time.Sleep(time.Duration(l.rnd.IntN(60)) * time.Millisecond)
				rotate(l)
				if l.rnd.IntN(3) > 0 {
					d.kill()
					if l.rnd.IntN(2) == 0 {
						l.write(l.rnd.IntN(100))
						rotate(l)
					}
					d = start(t, data, patient(dir+"/a.log*"), sink, nil)
				}
			}
			until(t, "all lines", func() bool { return sink.count() >= len(l.all) })
			d.age(l)
			d.end()
			sink.check(t, l.all)
		})
	}
}
