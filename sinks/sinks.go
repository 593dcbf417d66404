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

// An Env is what a process gives to the sinks that it makes.
type Env struct {
	Resume      []pipeline.Extent // lengths of outputs, as they were stored last
	SourceNames []string          // by pipeline.Lane.Source
	Batches     int               // that the pipeline has
	OpenFiles   int               // that a sink of files may keep open; 0: the default
	ExactlyOnce bool              // the checkpoint is stored with the lengths of the outputs
	DeadLetter  bool              // the sink takes rejected records
	Logger      *slog.Logger
	Stdout      io.Writer // of the process; nil: it is not to be written to
}

// A Type is a kind of sink.
type Type struct {
	// Default returns a pointer to a configuration that holds the defaults.
	Default func() any
	// New makes a sink of what Default has returned, filled in. It connects to
	// nothing. The error tells all that is wrong, joined.
	New func(cfg any, env Env) (pipeline.Sink, error)
}

// A Connector is a sink that can look whether it would be able to work.
type Connector interface {
	CheckConnect(ctx context.Context) error
}

// A FactReader is a sink that may need facts of records besides their bytes: keys
// to partition by, flags.
type FactReader interface {
	NeedsFacts() bool
}

// Types are the sinks that there are, by the name that they have in a
// configuration. Each may be the dead letter, too.
var Types = map[string]Type{
	"file": {
		Default: func() any { return new(file.DefaultLogConfig()) },
		New:     typed(newFile),
	},
	"stdout": {
		Default: func() any { return new(file.StdoutConfig) },
		New:     typed(newStdout),
	},
	"kafka": {
		Default: func() any { return kafka.Default() },
		New:     typed(newKafka),
	},
	"jetstream": {
		Default: func() any { return new(nats.DefaultJetStream()) },
		New:     typed(newJetStream),
	},
	"nats": {
		Default: func() any { return new(nats.DefaultCore()) },
		New:     typed(newCore),
	},
	"discard": {
		Default: func() any { return new(discard.Config) },
		New:     typed(newDiscard),
	},
}

// typed makes a Type.New of a function that takes a configuration of one type.
func typed[C any, S pipeline.Sink](f func(C, Env) (S, error)) func(any, Env) (pipeline.Sink, error) {
	return func(cfg any, env Env) (pipeline.Sink, error) {
		c, ok := cfg.(*C)
		if !ok {
			return nil, fmt.Errorf("sinks: a configuration of type %T, want %T", cfg, c)
		}
		s, err := f(*c, env)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

func newFile(c file.LogConfig, env Env) (file.Log, error) {
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

func newKafka(c kafka.Config, env Env) (*kafka.Sink, error) { return kafka.New(c, env.Logger) }

func newJetStream(c nats.JetStreamConfig, env Env) (*nats.JetStream, error) {
	c.Logger = env.Logger
	return nats.NewJetStream(c)
}

func newCore(c nats.CoreConfig, env Env) (*nats.Core, error) {
	c.Logger = env.Logger
	return nats.NewCore(c)
}

func newDiscard(c discard.Config, _ Env) (*discard.Sink, error) { return discard.New(c), nil }
