package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/config/connect"
)

// A script holds the answers of kfake to the requests of a session, by API and version,
// in the order in which they came, from their correlation ids on.
type script struct {
	mu      sync.Mutex
	answers map[call][][]byte
}

// A recorder keeps the answers that arrive on a connection.
type recorder struct {
	net.Conn
	s     *script
	calls framedConn // registers requests
	in    []byte
}

func (r *recorder) Write(p []byte) (int, error) {
	r.calls.mu.Lock() // the library may read and write at the same time
	r.calls.note(p)
	r.calls.mu.Unlock()
	return r.Conn.Write(p)
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.in = append(r.in, p[:n]...)
	for len(r.in) >= 4 {
		size := 4 + int(binary.BigEndian.Uint32(r.in))
		if len(r.in) < size {
			break
		}
		r.calls.mu.Lock()
		c := r.calls.calls[binary.BigEndian.Uint32(r.in[4:])]
		r.calls.mu.Unlock()
		r.s.mu.Lock()
		r.s.answers[c] = append(r.s.answers[c], bytes.Clone(r.in[4:size]))
		r.s.mu.Unlock()
		r.in = r.in[size:]
	}
	return n, err
}

// record runs a session with kfake.
func record(t testing.TB) (*script, connect.Kafka) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "in"), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "u", "p"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	conn := connect.DefaultKafka()
	conn.Brokers, conn.RequestTimeout = c.ListenAddrs(), 20*time.Second
	conn.SASL = &connect.SASL{Mechanism: "SCRAM-SHA-256", Username: "u", Password: "p"}
	s := &script{answers: map[call][][]byte{}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	errs := session(ctx, conn, func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &recorder{Conn: conn, s: s, calls: framedConn{calls: map[uint32]call{}}}, err
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	conn.RequestTimeout = 300 * time.Millisecond
	s.mu.Lock()
	defer s.mu.Unlock()
	return &script{answers: maps.Clone(s.answers)}, conn // a closed connection may still get an answer
}

// session makes each kind of request, and returns the errors.
func session(ctx context.Context, conn connect.Kafka, dial func(ctx context.Context, network, addr string) (net.Conn, error)) (errs []error) {
	client, err := New(conn, "in")
	if err != nil {
		return []error{err}
	}
	l := client.(*library)
	l.connect = dial
	defer l.Close()
	do := func(name string, f func() error) {
		if err := f(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	var log Log
	do("topics", func() error {
		topics, err := l.Topics(ctx, []string{"in"}, false)
		if err == nil {
			err = topics[0].Err
		}
		return err
	})
	do("log", func() (err error) { log, err = l.LogState(ctx, "in", 0); return err })
	do("epoch", func() error { _, err := l.EpochEnd(ctx, "in", 0, log.Epoch, log.Epoch); return err })
	do("producer", func() error { _, err := l.NewProducer(ctx); return err })
	do("produce", func() error {
		var e Encoder
		e.Append(&Record{Value: []byte("http://h/"), Headers: []Header{{Name: []byte("a"), Value: []byte("b")}}})
		batch, err := e.Finish(NoProducer, 0, 0)
		if err == nil {
			_, err = l.Produce(ctx, "in", 0, batch)
		}
		return err
	})
	do("offset", func() error { _, err := l.Offset(ctx, "in", 0, Earliest); return err })
	for _, log := range []Log{{}, log} {
		do("fetch", func() error {
			f, d := new(Fetched), Decoder{MaxBytes: 1 << 20, Committed: true}
			err := l.Fetch(ctx, &FetchRequest{Topic: "in", MaxBytes: 1 << 20, MaxWait: time.Millisecond, Log: log}, f)
			if f.Next(0); err == nil {
				d.Reset(f, 0)
				for r := new(Record); d.Next(r); {
				}
				err = d.Err()
			}
			return err
		})
	}
	do("setting", func() error { _, err := l.Setting(ctx, "in", "max.message.bytes"); return err })
	do("create", func() error {
		return l.CreateTopic(ctx, "new", 1, map[string]string{"cleanup.policy": "compact"}, true)
	})
	do("group", func() error { return joins(ctx, l) })
	return errs
}

// joins joins a group, reads and commits offsets, and leaves it.
func joins(ctx context.Context, l *library) error {
	g, err := l.Join(GroupConfig{
		Group: "g", Topics: []string{"in"}, Session: 10 * time.Second, Rebalance: 10 * time.Second, Heartbeat: 5 * time.Millisecond,
		RequestTimeout: l.conn.RequestTimeout, PartitionRefresh: 5 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		g.Close(ctx)
	}()
	gen, err := g.Next(ctx)
	if err != nil {
		return err
	}
	list := gen.Assignments()
	done := make(chan error, 1)
	gen.Start(func(context.Context) {
		err := g.Notes(ctx, list)
		if err == nil && len(list) > 0 {
			err = gen.Commit(ctx, []Assignment{{Topic: "in", Offset: 1, Note: "a note"}})
		}
		time.Sleep(12 * time.Millisecond) // heartbeats, and looks at the partitions
		done <- err
	})
	return <-done
}

// A mutation changes one answer of a session.
type mutation struct {
	c    call
	rng  *rand.Rand
	mu   sync.Mutex
	done bool
}

// apply returns the answer that is sent instead of a, with its length, and whether it
// is the changed one.
func (m *mutation) apply(c call, a []byte) (frame []byte, changed bool) {
	frame = append(binary.BigEndian.AppendUint32(nil, uint32(len(a))), a...)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done || c != m.c || m.rng.IntN(3) == 0 {
		return frame, false
	}
	m.done = true
	if m.rng.IntN(8) == 0 {
		return mutate(m.rng, frame), true // also its length and its correlation id
	}
	body := mutate(m.rng, frame[8:])
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(4+len(body))), frame[4:8]...), body...), true
}

// mutate returns a changed copy of b.
func mutate(rng *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + rng.IntN(3) {
		if len(b) == 0 {
			return b
		}
		at := rng.IntN(len(b))
		switch rng.IntN(7) {
		case 0, 1:
			b[at] ^= 1 << rng.IntN(8)
		case 2:
			b[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[rng.IntN(5)]
		case 3, 4:
			n := []uint32{1<<31 - 1, 1<<32 - 1, 1 << 31, 1 << 29, 1 << 20, uint32(len(b)), 2, 0}[rng.IntN(8)]
			copy(b[at:], binary.BigEndian.AppendUint32(nil, n))
		case 5:
			b = b[:at]
		case 6:
			b = slices.Insert(b, at, bytes.Clone(b[at:min(len(b), at+1+rng.IntN(40))])...)
		}
	}
	return b
}

// serve answers the requests on conn.
func (s *script) serve(conn net.Conn, m *mutation) {
	defer func() { _ = conn.Close() }() // close errors do not matter
	for {
		var head [requestHead]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head[:]))-requestHead+4); err != nil {
			return
		}
		c := call{protocol.ApiKey(binary.BigEndian.Uint16(head[4:])), int16(binary.BigEndian.Uint16(head[6:]))}
		a := slices.Clone(s.answer(c))
		if a == nil {
			return
		}
		copy(a, head[8:])
		frame, changed := m.apply(c, a)
		if _, err := conn.Write(frame); err != nil || changed && m.rng.IntN(2) == 0 {
			return
		}
	}
}

// answer returns an answer to c.
func (s *script) answer(c call) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.answers[c]
	if len(list) == 0 {
		return nil
	}
	return list[len(list)/2]
}

// TestHostile: whatever a broker answers, a session ends without a panic, without a
// hang, and without much memory.
func TestHostile(t *testing.T) {
	rounds, seed := 200, 1
	if long := os.Getenv("URLFOLD_SESSIONS"); long != "" { // such as "100000 from seed 7"
		if _, err := fmt.Sscanf(long, "%d from seed %d", &rounds, &seed); err != nil {
			t.Fatal(err)
		}
	}
	s, conn := record(t)
	conn.SASL = nil // each login sends other bytes
	calls := slices.SortedFunc(maps.Keys(s.answers), func(a, b call) int { return int(a.api-b.api)*100 + int(a.version-b.version) })
	calls = slices.DeleteFunc(calls, func(c call) bool {
		return c.api == protocol.SaslHandshake || c.api == protocol.SaslAuthenticate
	})
	var most uint64
	failed, turns := 0, make(chan int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := range turns {
				m := &mutation{c: calls[i%len(calls)], rng: rand.New(rand.NewPCG(uint64(i), uint64(seed)))}
				errs := hostile(t, s, conn, m)
				mu.Lock()
				if len(errs) > 0 {
					failed++
				}
				mu.Unlock()
			}
		})
	}
	for i := range rounds {
		if i%100 == 0 {
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			most = max(most, stats.HeapAlloc)
		}
		turns <- i
	}
	close(turns)
	wg.Wait()
	t.Logf("%d sessions from seed %d with a changed answer of %v: %d had errors, largest heap %d MiB", rounds, seed, calls, failed, most>>20)
	if most > 512<<20 || failed < rounds/10 {
		t.Errorf("%d MiB, %d sessions with errors", most>>20, failed)
	}
}

// hostile runs a session in which m changes an answer.
func hostile(t *testing.T, s *script, conn connect.Kafka, m *mutation) []error {
	ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	ended := make(chan []error, 1)
	go func() {
		ended <- session(ctx, conn, func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			wg.Go(func() { s.serve(server, m) })
			return client, nil
		})
	}()
	select {
	case errs := <-ended:
		return errs
	case <-time.After(time.Minute):
		b := make([]byte, 1<<20)
		t.Errorf("%v: the session does not end\n%s", m.c, b[:runtime.Stack(b, true)])
		return nil
	}
}

// TestIterations: a broker cannot demand arbitrary work for a login.
func TestIterations(t *testing.T) {
	m, err := saslMechanism(&connect.SASL{Mechanism: "SCRAM-SHA-512", Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	for count, permitted := range map[string]bool{"4096": true, "100000": true, "100001": false, "2147483648": false, "99999999999999999999": false, "x": false} {
		steps, first, err := m.Start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		_, nonce, _ := strings.Cut(string(first), ",r=")
		_, _, err = steps.Next(context.Background(), []byte("r="+nonce+"x,s=QUJDRA==,i="+count))
		if (err == nil) != permitted {
			t.Errorf("%s iterations: %v", count, err)
		}
	}
}

// FuzzAnswers: an answer that passes the check is decoded without a panic, and with
// memory in proportion to its length.
func FuzzAnswers(f *testing.F) {
	s, _ := record(f)
	for c, list := range s.answers {
		for _, a := range list[:min(3, len(list))] {
			f.Add(int16(c.api), c.version, a[4:])
		}
	}
	f.Add(int16(protocol.Metadata), int16(8), []byte("\x00\x00\x00\x00\x7f\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, api, version int16, body []byte) {
		c := call{protocol.ApiKey(api), version}
		if len(body) > 1<<20 || api < 0 || answers[c.api] == nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		decode(t, c, body)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(1<<20+200*len(body)) {
			t.Errorf("%v: %d bytes allocated for %d", c, n, len(body))
		}
	})
}

// TestMutated does the same with many changed answers of each kind.
func TestMutated(t *testing.T) {
	s, _ := record(t)
	calls := slices.Collect(maps.Keys(s.answers))
	rng := rand.New(rand.NewPCG(1, 2))
	passed := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rounds := 20_000
	if os.Getenv("URLFOLD_LONG") == "1" {
		rounds = 100_000
	}
	for i := range rounds {
		c := calls[i%len(calls)]
		if decode(t, c, mutate(rng, s.answers[c][i/len(calls)%len(s.answers[c])][4:])) {
			passed++
		}
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / uint64(rounds)
	t.Logf("%d changed answers, %d pass the check, %d bytes allocated for each", rounds, passed, each)
	if passed == 0 || passed > rounds*9/10 || each > 1<<14 {
		t.Errorf("%d pass, %d bytes each", passed, each)
	}
}

// decode decodes the answer to c as the library and this package do, and reports
// whether it passes the check.
func decode(t *testing.T, c call, body []byte) bool {
	own(c, body)
	if c.version < c.api.MinVersion() || c.version > c.api.MaxVersion() || checkAnswer(c, body) != nil {
		return false
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
	frame = append(binary.BigEndian.AppendUint32(frame, 1), body...)
	if _, _, err := protocol.ReadResponse(bytes.NewReader(frame), c.api, c.version); err != nil {
		t.Errorf("%v passes the check: %v", c, err)
	}
	return true
}

// own decodes body as an answer to a request that is encoded here.
func own(c call, body []byte) {
	switch c.api {
	case protocol.Metadata:
		_ = new(topicLogs).decode(&wire{cursor{b: body}}, "in")
	case protocol.Produce: // of which there are many: the same bytes as records
		f, d := &Fetched{Set: body}, Decoder{MaxBytes: 1 << 20}
		d.Reset(f, f.Next(0))
		for r := new(Record); d.Next(r); {
		}
	case protocol.ListOffsets:
		for _, version := range []int16{4, 11, fetchByID} {
			r := &fetchRequest{FetchRequest: FetchRequest{Topic: "in"}, version: version, into: new(Fetched)}
			_ = r.decode(body)
		}
	}
}
