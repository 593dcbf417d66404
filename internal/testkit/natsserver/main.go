// Command natsserver runs a NATS server with JetStream on a loopback address,
// for experiments: .ci/nats starts it. It prints its URL, creates the requested
// streams unless they exist, and runs until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "natsserver:", err)
		os.Exit(1)
	}
}

// streams is a list of pairs of a name and a subject.
type streams [][2]string

// String implements [flag.Value].
func (s *streams) String() string { return "" }

// Set implements [flag.Value].
func (s *streams) Set(text string) error {
	name, subject, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("must be NAME=SUBJECT")
	}
	*s = append(*s, [2]string{name, subject})
	return nil
}

// run runs a server until ctx is done.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("natsserver", flag.ContinueOnError)
	opts := server.Options{Host: "127.0.0.1", JetStream: true, NoLog: true, NoSigs: true}
	var list streams
	flags.StringVar(&opts.StoreDir, "dir", "", "store streams in `DIRECTORY` (required)")
	flags.IntVar(&opts.Port, "port", server.RANDOM_PORT, "listen on `PORT`; -1: any free port")
	flags.Var(&list, "stream", "create the stream `NAME=SUBJECT` unless it exists; repeatable")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if opts.StoreDir == "" {
		return errors.New("missing required flag: -dir DIRECTORY")
	}
	srv, err := server.NewServer(&opts)
	if err != nil {
		return err
	}
	srv.Start()
	defer func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	}()
	if !srv.ReadyForConnections(30 * time.Second) {
		return errors.New("server is not ready after 30 seconds")
	}
	if err := makeStreams(ctx, srv.ClientURL(), list); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, srv.ClientURL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// makeStreams creates the streams that do not exist.
func makeStreams(ctx context.Context, url string, list streams) error {
	conn, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	for _, s := range list {
		// The server must detect duplicates for longer than a restart takes.
		cfg := jetstream.StreamConfig{Name: s[0], Subjects: s[1:], Duplicates: 10 * time.Minute}
		if _, err := js.CreateOrUpdateStream(ctx, cfg); err != nil {
			return fmt.Errorf("stream %s: %w", s[0], err)
		}
	}
	return nil
}
