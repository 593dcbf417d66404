package endtoend

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestDedupeSubject kills the program and stops the server at random moments while a file
// with duplicates is published with msg_id: subject, to a stream that refuses a second
// message of a subject. Each key is there once.
func TestDedupeSubject(t *testing.T) {
	t.Parallel()
	w := newDedupe(t, "subject")
	cfg := jetstream.StreamConfig{
		Name: "PAGES", Subjects: []string{"pages.>"}, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	}
	out, err := w.js.CreateStream(w.context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.out = out
	dir := t.TempDir()
	path := filepath.Join(dir, "in.log")
	kills, stops, working := dedupeKills(t), 0, 0
	if err := os.WriteFile(path, subjectInput(w, 10_000*kills), 0o600); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`
version: 1
data_dir: %q
commit_interval: 20ms
sources:
  - file: {from: lines, include: [%q], mode: batch}
codec: {key: k1, to: urls}
sinks:
  - jetstream: {servers: [%q], subject: "pages.{key}", msg_id: subject}
dead_letter: {file: {path: %q}}
admin: {listen: "127.0.0.1:0"}
`, filepath.Join(dir, "state"), path, w.srv.URL(), filepath.Join(dir, "dead"))
	p := start(t, config)
	for range kills {
		time.Sleep(rand.N(200 * time.Millisecond))
		if rand.IntN(4) == 0 {
			w.srv.Down()
			time.Sleep(rand.N(50 * time.Millisecond))
			w.srv.Up()
			stops++
		}
		if !p.Ended() {
			working++
		}
		p.Kill()
		p = start(t, config)
	}
	if code, err := p.Wait(context.Background(), patience); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v", code, err)
	}
	doubled := w.compare()
	t.Logf("figure: msg_id subject: %d kills, %d of them at work, %d stops of the server, %d keys, %d doubled", kills, working, stops, w.keys, doubled)
	if doubled > 0 {
		t.Errorf("%d keys came again", doubled)
	}
}

// subjectInput returns n URLs, of which about every third has a new key.
func subjectInput(w *dedupeWorld, n int) []byte {
	var b bytes.Buffer
	for range n {
		key := rand.IntN(w.keys + 1)
		if rand.IntN(3) == 0 {
			key = w.keys
		}
		w.keys = max(w.keys, key+1)
		fmt.Fprintf(&b, "%s://example.com/%d\n", [...]string{"http", "HTTP"}[rand.IntN(2)], key)
	}
	return b.Bytes()
}
