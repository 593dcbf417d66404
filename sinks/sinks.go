package sinks

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sinks/kafka"
	"github.com/urlfold/urlfold/sinks/nats"
)

// An Env is what a process gives to the sinks that it runs.
type Env struct {
	Name        string            // of the sink, for logs and metrics
	Resume      []pipeline.Extent // output extents of the last checkpoint
	SourceNames []string          // by pipeline.Lane.Source
	Batches     int               // how many batches the pipeline has
	OpenFiles   int               // how many files the sink may keep open; 0: its default
	ExactlyOnce bool              // checkpoints hold the output extents
	DeadLetter  bool              // the sink takes rejected records
	Logger      *slog.Logger
	Stdout      io.Writer // of the process; nil: it must not be written to
}

// A Type is one kind of sink. [Define] makes one. Every type can be the dead
// letter too.
type Type struct {
	// Name is the key that stands for the type in a configuration: "kafka".
	Name string
	// Default returns a pointer to a new configuration struct that holds the
	// defaults. Package config/field says what the struct may look like.
	Default func() any
	// New makes a sink from a struct that Default returned and the configuration
	// filled in. It connects to nothing. The error joins all mistakes.
	New func(cfg any, env Env) (pipeline.Sink, error)
}

// A Connector is a sink that can check whether it would be able to work.
// "urlfold validate --connect" calls CheckConnect.
type Connector interface {
	CheckConnect(ctx context.Context) error
}

// A FactReader is a sink that may need facts about records besides their bytes:
// keys to partition by, flags.
type FactReader interface {
	NeedsFacts() bool
}

// Builtin returns the types of this module, in the order of their names.
func Builtin() []Type {
	return []Type{
		Define("discard", func() *discard.Config { return new(discard.Config) }, newDiscard),
		Define("file", ptr(file.DefaultLogConfig), newFile),
		Define("jetstream", ptr(nats.DefaultJetStream), newJetStream),
		Define("kafka", kafka.Default, newKafka),
		Define("nats", ptr(nats.DefaultCore), newCore),
		Define("stdout", func() *file.StdoutConfig { return new(file.StdoutConfig) }, newStdout),
	}
}

// Define returns the type called name, whose configuration struct is C. defaults
// returns a new C that holds the defaults, and open makes a sink of one.
func Define[C any, S pipeline.Sink](name string, defaults func() *C, open func(C, Env) (S, error)) Type {
	return Type{
		Name:    name,
		Default: func() any { return defaults() },
		New: func(cfg any, env Env) (pipeline.Sink, error) {
			c, ok := cfg.(*C)
			if !ok {
				return nil, fmt.Errorf("sink %s: configuration of type %T, want %T", name, cfg, c)
			}
			s, err := open(*c, env)
			if err != nil {
				return nil, err // and not an interface that holds a nil S
			}
			return s, nil
		},
	}
}

// ptr returns f with a pointer to its result.
func ptr[C any](f func() C) func() *C {
	return func() *C { return new(f()) }
}

func newFile(c file.LogConfig, env Env) (pipeline.Sink, error) {
	c.Resume, c.SourceNames, c.Batches, c.Logger = env.Resume, env.SourceNames, env.Batches, env.Logger
	c.ExactlyOnce, c.OpenFiles = c.ExactlyOnce || env.ExactlyOnce, env.OpenFiles
	c.DeadLetter = env.DeadLetter
	return file.NewLog(c)
}

func newStdout(c file.StdoutConfig, env Env) (pipeline.Sink, error) {
	if env.Stdout == nil {
		env.Stdout = io.Discard
	}
	return file.NewStdout(c, env.Stdout)
}

func newKafka(c kafka.Config, env Env) (pipeline.Sink, error) { return kafka.New(c, env.Logger) }

func newJetStream(c nats.JetStreamConfig, env Env) (pipeline.Sink, error) {
	c.Logger = env.Logger
	return nats.NewJetStream(c)
}

func newCore(c nats.CoreConfig, env Env) (pipeline.Sink, error) {
	c.Logger = env.Logger
	return nats.NewCore(c)
}

func newDiscard(c discard.Config, _ Env) (pipeline.Sink, error) { return discard.New(c), nil }
