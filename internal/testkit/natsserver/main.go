// Command natsserver runs a NATS server with JetStream on a loopback address, for
// trying things out: .ci/nats starts it. It prints its address, makes the streams
// that it is asked for, unless they are there, and runs until it is interrupted.
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

// streams are pairs of a name and a subject.
type streams [][2]string

// String implements [flag.Value].
func (s *streams) String() string { return "" }

// Set implements [flag.Value].
func (s *streams) Set(text string) error {
	name, subject, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("is not of the form NAME=SUBJECT")
	}
	*s = append(*s, [2]string{name, subject})
	return nil
}

// run runs a server until ctx is done.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("natsserver", flag.ContinueOnError)
	opts := server.Options{Host: "127.0.0.1", JetStream: true, NoLog: true, NoSigs: true}
	var list streams
	flags.StringVar(&opts.StoreDir, "dir", "", "the `DIRECTORY` of the streams")
	flags.IntVar(&opts.Port, "port", server.RANDOM_PORT, "the `PORT`; -1 is one that is free")
	flags.Var(&list, "stream", "a stream to be there, `NAME=SUBJECT`; may be given again")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if opts.StoreDir == "" {
		return errors.New("-dir says where the streams are")
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
		return errors.New("the server does not start")
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

// makeStreams makes the streams that are not there.
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
		// The window in which a message is known again is longer than a restart takes.
		cfg := jetstream.StreamConfig{Name: s[0], Subjects: s[1:], Duplicates: 10 * time.Minute}
		if _, err := js.CreateOrUpdateStream(ctx, cfg); err != nil {
			return fmt.Errorf("stream %s: %w", s[0], err)
		}
	}
	return nil
}
