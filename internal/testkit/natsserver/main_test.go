package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// start runs the command in this process until the test calls stop.
func start(t *testing.T, args ...string) (url string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, args, w) }()
	url, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url), func() error {
		cancel()
		return <-done
	}
}

// TestRun checks that the content of the streams survives the server, which
// creates them only once.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for round := range uint64(2) {
		url, stop := start(t, "-dir", dir, "-stream", "A=a.>", "-stream", "B=b.>")
		conn, err := nats.Connect(url)
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(conn)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		ack, err := js.Publish(ctx, "b.x", []byte("x"))
		cancel()
		if err != nil || ack.Stream != "B" || ack.Sequence != round+1 {
			t.Errorf("round %d: %+v, %v", round, ack, err)
		}
		conn.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestRunMistakes(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := run(ctx, args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	f("missing required flag: -dir")
	f("NAME=SUBJECT", "-dir", t.TempDir(), "-stream", "A")
}
