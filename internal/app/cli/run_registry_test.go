package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// TestRunRegistryDown checks that a stop does not wait for a schema registry that
// does not answer: the message whose schema is missing is read again by the next
// run.
func TestRunRegistryDown(t *testing.T) {
	server := natstest.Start(t, nil)
	conn, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "IN", Subjects: []string{"in"}, Storage: jetstream.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "in", []byte("\x00\x00\x00\x00\x07abc")); err != nil {
		t.Fatal(err)
	}
	asked, over := make(chan struct{}, 100), make(chan struct{})
	registry := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-over
	}))
	defer registry.Close()
	defer close(over)
	name := filepath.Join(t.TempDir(), "c.yaml")
	write(t, name, fmt.Sprintf(`version: 1
sources:
  - jetstream: {from: avro, url_field: url, servers: [%q], stream: IN, durable: d}
codec: {registry: {url: %q, request_timeout: 5m}}
sinks:
  - discard: {}
shutdown_timeout: 1h
admin: {listen: ""}
`, server.URL(), registry.URL))
	cmd, stderr := program(t, "run", "-c", name)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-asked
		_ = cmd.Process.Signal(os.Interrupt)
	}()
	_ = cmd.Wait() // its exit code is checked below
	if code := cmd.ProcessState.ExitCode(); code != command.ExitFatal || !strings.Contains(stderr.String(), "stopped while the schema registry could not be reached") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
