package chaos

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

// A Rotation is a way to rotate a log, named as in logrotate.
type Rotation string

// The ways of rotation.
const (
	Create        Rotation = "create"        // renamed; the writer continues with the old file for a while
	CopyTruncate  Rotation = "copytruncate"  // copied, then truncated while the writer has it open
	Compress      Rotation = "compress"      // create, followed by gzip, which deletes the uncompressed file
	DelayCompress Rotation = "delaycompress" // like compress, but one rotation later
	DateExt       Rotation = "dateext"       // create, with a name that never changes again
)

// Rotations returns all ways of rotation.
func Rotations() []Rotation {
	return []Rotation{Create, CopyTruncate, Compress, DelayCompress, DateExt}
}

// A Live is a writer of a log that grows and is rotated. Set its exported
// settings before Run, and read the results afterwards.
type Live struct {
	Spec     Spec
	Lane     uint64
	Path     string
	Rate     int           // records per second
	Every    time.Duration // time between rotations; 0: no rotations
	How      Rotation
	Half     float64       // probability that a write ends with a partial line, completed by the next write
	Duration time.Duration // duration of Run

	Records  uint64 // number of written records
	Rotated  int
	Forgiven []Gap // records written between copy and truncate
	f        *os.File
	rng      *rand.Rand
	held     []byte // rest of a partial line
	shifted  int    // the files FILE.1 to FILE.shifted exist
	packed   map[int]bool
}

// A Gap is the range of records From to To-1.
type Gap struct{ From, To uint64 }

// burst is the time between two writes.
const burst = 2 * time.Millisecond

// Run writes for Duration or until ctx is done. The log ends with a complete
// line.
func (l *Live) Run(ctx context.Context) (err error) {
	l.rng = rand.New(rand.NewPCG(l.Spec.Seed, l.Lane))
	l.packed = map[int]bool{}
	if err := l.reopen(); err != nil {
		return err
	}
	defer func() {
		if err2 := l.f.Close(); err == nil {
			err = err2
		}
	}()
	start := time.Now()
	next := start.Add(l.Every)
	tick := time.NewTicker(burst)
	defer tick.Stop()
	for ctx.Err() == nil && time.Since(start) < l.Duration {
		due := uint64(time.Since(start).Seconds() * float64(l.Rate))
		if err := l.write(int(min(due-min(due, l.Records), 10000))); err != nil {
			return err
		}
		if l.Every > 0 && time.Now().After(next) {
			if err := l.rotate(); err != nil {
				return err
			}
			next = next.Add(l.Every)
		}
		<-tick.C
	}
	return l.flush()
}

// reopen opens the log for appending.
func (l *Live) reopen() (err error) {
	if l.f != nil {
		if err := l.f.Close(); err != nil {
			return err
		}
	}
	l.f, err = os.OpenFile(l.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return err
}

// write appends n records. At random, it holds back the end of the last one.
func (l *Live) write(n int) error {
	if n <= 0 {
		return nil
	}
	buf := l.held
	l.held = nil
	for range n {
		buf = l.Spec.Append(buf, l.Lane, l.Records)
		l.Records++
	}
	if l.rng.Float64() < l.Half {
		cut := len(buf) - 1 - l.rng.IntN(min(len(buf)-1, 60))
		buf, l.held = buf[:cut], append([]byte(nil), buf[cut:]...)
	}
	_, err := l.f.Write(buf)
	return err
}

// flush completes the last line.
func (l *Live) flush() error {
	_, err := l.f.Write(l.held)
	l.held = nil
	return err
}

func numbered(path string, n int) string { return fmt.Sprintf("%s.%d", path, n) }

// rotate rotates the log once.
func (l *Live) rotate() error {
	l.Rotated++
	if l.How == CopyTruncate {
		return l.copyTruncate()
	}
	to := numbered(l.Path, 1)
	if l.How == DateExt {
		to = fmt.Sprintf("%s-20261121-%06d", l.Path, l.Rotated)
	} else if err := l.shift(); err != nil {
		return err
	}
	if err := os.Rename(l.Path, to); err != nil {
		return err
	}
	// The writer reopens the log only later.
	if err := l.write(1 + l.rng.IntN(20)); err != nil {
		return err
	}
	if err := l.flush(); err != nil {
		return err
	}
	if err := l.reopen(); err != nil {
		return err
	}
	switch {
	case l.How == Compress:
		return l.compress(1)
	case l.How == DelayCompress && l.Rotated > 1:
		return l.compress(2)
	}
	return nil
}

// shift renames FILE.1 to FILE.2 and so on, starting with the highest number.
func (l *Live) shift() error {
	for n := l.shifted; n > 0; n-- {
		ext := ""
		if l.packed[n] {
			ext = ".gz"
		}
		if err := os.Rename(numbered(l.Path, n)+ext, numbered(l.Path, n+1)+ext); err != nil {
			return err
		}
		l.packed[n+1] = l.packed[n]
	}
	l.packed[1] = false
	l.shifted++
	return nil
}

// compress runs like gzip FILE.n: it writes a second file and then removes the
// first.
func (l *Live) compress(n int) error {
	path := numbered(l.Path, n)
	if l.packed[n] {
		return nil
	}
	if err := pack(path+".gz", path); err != nil {
		return err
	}
	l.packed[n] = true
	return os.Remove(path)
}

// pack compresses a file.
func pack(to, from string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // opened only for reading
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err2 := dst.Close(); err == nil {
			err = err2
		}
	}()
	p, err := Gzip.packer(dst)
	if err != nil {
		return err
	}
	if _, err := io.Copy(p, src); err != nil {
		return err
	}
	return p.Close()
}

// copyTruncate runs like "cp FILE FILE.1; : > FILE", without notice to the
// writer. Records written between the two commands are in no file; they may be
// lost, and Forgiven lists them.
func (l *Live) copyTruncate() error {
	if err := l.flush(); err != nil {
		return err
	}
	if err := l.shift(); err != nil {
		return err
	}
	if err := copyTo(numbered(l.Path, 1), l.Path); err != nil {
		return err
	}
	if l.rng.IntN(3) == 0 {
		from := l.Records
		if err := l.write(1 + l.rng.IntN(20)); err != nil {
			return err
		}
		if err := l.flush(); err != nil {
			return err
		}
		l.Forgiven = append(l.Forgiven, Gap{from, l.Records})
	}
	return os.Truncate(l.Path, 0)
}

func copyTo(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
