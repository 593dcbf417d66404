package endtoend

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/proxy"
)

// A mutator changes what servers answer, while it is on.
type mutator struct {
	mu   sync.Mutex
	rng  *rand.Rand
	on   bool
	text bool // the protocol is text: digits are as important as bits
	n    int  // mutations made
}

func newMutator(text bool) *mutator {
	return &mutator{rng: rand.New(rand.NewPCG(32, 14)), text: text}
}

// set switches m, and returns the number of mutations made.
func (m *mutator) set(on bool) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on = on
	return m.n
}

// answer returns an answer, or a piece of one. It changes one of four: a bit is wrong, a
// count or a length is huge or negative, or the end is missing.
func (m *mutator) answer(b []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on || len(b) < 8 || m.rng.IntN(4) > 0 {
		return b
	}
	m.n++
	b = bytes.Clone(b)
	at := m.rng.IntN(len(b) - 4)
	if m.rng.IntN(2) == 0 {
		at = min(at, m.rng.IntN(40)) // the beginning has most of the structure
	}
	switch digit := bytes.IndexAny(b[at:], "0123456789"); {
	case m.text && digit >= 0 && m.rng.IntN(2) == 0:
		return append(b[:at+digit], append([]byte("9999999999"), b[at+digit:]...)...)
	case m.rng.IntN(8) == 0:
		return b[:at]
	case m.rng.IntN(2) == 0:
		copy(b[at:], [][]byte{{0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}, {0x20, 0, 0, 0}}[m.rng.IntN(3)])
	default:
		b[at] ^= 1 << m.rng.IntN(8)
	}
	return b
}

// filter is a [proxy.Filter] for answers.
func (m *mutator) filter(w io.Writer, r io.Reader) error {
	for b := make([]byte, 32<<10); ; {
		n, err := r.Read(b)
		if n > 0 {
			if _, werr := w.Write(m.answer(b[:n])); werr != nil {
				return werr
			}
		}
		if err != nil {
			return err
		}
	}
}

// listen is for [kfake.ListenFn].
func (m *mutator) listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	return &mutatingListener{l, m}, err
}

type mutatingListener struct {
	net.Listener
	m *mutator
}

func (l *mutatingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &mutatingConn{c, l.m}, nil
}

type mutatingConn struct {
	net.Conn
	m *mutator
}

func (c *mutatingConn) Write(b []byte) (int, error) {
	if _, err := c.Conn.Write(c.m.answer(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

const (
	mutatedTimeout = 5 * time.Second  // shutdown_timeout
	mutatedSlack   = 15 * time.Second // a loaded machine may need this on top of it
	mutatedMemory  = 512 << 20
)

// underMutations runs the program while its servers give mutated answers, and stops it
// with SIGTERM meanwhile. Every second time, the answers are mutated from the start. An
// error may end the program, but no panic and no lack of memory, and a signal must end
// it within its deadline.
func underMutations(t *testing.T, what, config string, m *mutator, fill func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "urlfold.yaml")
	config += "shutdown_timeout: " + mutatedTimeout.String() + "\n"
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var longest time.Duration
	var peak int64
	n, ended, signals := rounds(t, 2, 60), 0, 0
	for i := range n {
		m.set(false)
		fill()
		before := m.set(i%2 == 0)
		p, err := chaos.Start(nil, binary, "run", "-c", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		if i%2 == 1 {
			if _, err := p.Admin(t.Context()); err != nil {
				t.Fatal(err)
			}
			m.set(true)
		}
		// A client that waits after errors gets few answers, so this is also bounded
		// by time.
		for end := time.Now().Add(5 * time.Second); !p.Ended() && time.Now().Before(end) && m.set(true) < before+200; {
			time.Sleep(10 * time.Millisecond)
		}
		if p.Ended() {
			ended++
		} else {
			signals++
		}
		began := time.Now()
		if err := p.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		code, err := p.Wait(context.Background(), mutatedTimeout+mutatedSlack)
		longest = max(longest, time.Since(began))
		peak = max(peak, p.MaxRSS())
		out := "\n" + p.Output()
		crashed := code == 2 || strings.Contains(out, "\npanic: ") || strings.Contains(out, "\nfatal error: ")
		if err != nil || crashed || p.MaxRSS() > mutatedMemory {
			t.Errorf("round %d: exit code %d, %v, %d MiB; it wrote:\n%s", i, code, err, p.MaxRSS()>>20, out)
		}
	}
	all := m.set(false)
	t.Logf("figure: %s: %d runs with %d mutated answers; %d ended with an error, %d by SIGTERM, the longest after %v; %d MiB of memory at most",
		what, n, all, ended, signals, longest.Round(time.Millisecond), peak>>20)
	if all == 0 || signals == 0 {
		t.Error("the test shows nothing")
	}
}

// TestKafkaMutated mutates the answers of brokers. They may say anything about offsets,
// so nothing is required of the records of that time. Afterwards, the program must
// work as if nothing had been: all records of a new topic come out. The records of the
// old topic that were not read until then are deleted with it.
func TestKafkaMutated(t *testing.T) {
	t.Parallel()
	m := newMutator(false)
	_, conn := kafkatest.Fake(t, kfake.GroupMinSessionTimeout(time.Second), kfake.ListenFn(m.listen))
	w := newKafka(t, conn)
	w.fake = true
	underMutations(t, "kafka", w.config(), m, func() { w.fill(300) })
	w.recreate()
	w.fill(500)
	p := start(t, w.config())
	w.drained()
	stop(t, p)
	o := chaos.NewOracle(w.spec)
	for part := range kafkaPartitions {
		o.Expect(w.lane(0, part), w.gone[0])
		o.Excuse(w.lane(0, part), 0, w.gone[0])
		o.Expect(w.lane(1, part), w.records)
	}
	r := w.judgeWith(o)
	t.Logf("figure: kafka, afterwards: %v", &r)
	if !r.Right() {
		t.Errorf("%v", r.Examples)
	}
}

// TestNATSMutated mutates the answers of a NATS server, which include the messages.
// Messages that are published afterwards must come out.
func TestNATSMutated(t *testing.T) {
	t.Parallel()
	m := newMutator(true)
	w := newNATS(t, "none")
	between := proxy.New(t, w.srv.Addr())
	between.Filter(nil, m.filter)
	config := strings.ReplaceAll(w.config(), w.srv.URL(), "nats://"+between.Addr())
	underMutations(t, "nats", config, m, func() { w.fill(1000) })
	before := w.records
	w.fill(2000)
	p := start(t, w.config())
	w.drained()
	stop(t, p)
	r := w.judgeFrom(before)
	t.Logf("figure: nats, afterwards: %v", &r)
	if r.Lost > 0 {
		t.Errorf("%v", r.Examples)
	}
}
