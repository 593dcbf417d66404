package sinks

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sinks/kafka"
	"github.com/urlfold/urlfold/sinks/nats"
)

// An Env holds the settings that a process passes to its sinks.
type Env struct {
	Name        string          // name of the sink, for logs and metrics
	Resume      []engine.Extent // output extents from the last checkpoint
	Lost        bool            // that checkpoint was damaged: outputs may lack an extent
	SourceNames []string        // source names, indexed by engine.Lane.Source
	Batches     int             // number of batches in the pipeline
	OpenFiles   int             // maximum number of files that the sink may keep open; 0: its default
	ExactlyOnce bool            // checkpoints hold the output extents
	DeadLetter  bool            // the sink receives rejected records
	Logger      *slog.Logger
	Header      []byte    // line at the beginning of each output; nil: none
	CSV         bool      // records are rows of CSV
	Stdout      io.Writer // standard output of the process; nil: the sink must not write to it
}

// A Type is one kind of sink. Use [Define] to create one. A sink of any type
// can also be the dead letter.
type Type struct {
	// Name is the key of the type in a configuration, such as "kafka".
	Name string
	// Default returns a pointer to a new configuration struct with the default
	// values. Package config/field describes what the struct may contain.
	Default func() any
	// New creates a sink from a struct that Default returned and the
	// configuration filled in. It does not open any connection. The error joins
	// all problems.
	New func(cfg any, env Env) (engine.Sink, error)
}

// A Connector is a sink that can check its connections and permissions without
// writing. "urlfold validate --connect" calls CheckConnect.
type Connector interface {
	CheckConnect(ctx context.Context) error
}

// A FactReader is a sink that may need facts about records in addition to their
// bytes: partition keys and flags.
type FactReader interface {
	NeedsFacts() bool
}

// A LineWriter is a sink that may need records that end with a line end. Its
// NeedsLines returns nil or says why.
type LineWriter interface {
	NeedsLines() error
}

// Builtin returns the types of this module, sorted by name.
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

// Define returns a type with the given name and the configuration struct C.
// defaults returns a new C with the default values, and open creates a sink
// from one.
func Define[C any, S engine.Sink](name string, defaults func() *C, open func(C, Env) (S, error)) Type {
	return Type{
		Name:    name,
		Default: func() any { return defaults() },
		New: func(cfg any, env Env) (engine.Sink, error) {
			c, ok := cfg.(*C)
			if !ok {
				return nil, fmt.Errorf("sink %s: configuration of type %T, want %T", name, cfg, c)
			}
			s, err := open(*c, env)
			if err != nil {
				return nil, err // not a non-nil interface that holds a nil S
			}
			return s, nil
		},
	}
}

// ptr returns a function that returns a pointer to the result of f.
func ptr[C any](f func() C) func() *C {
	return func() *C { return new(f()) }
}

func newFile(c file.LogConfig, env Env) (engine.Sink, error) {
	c.Resume, c.Lost, c.SourceNames, c.Batches, c.Logger = env.Resume, env.Lost, env.SourceNames, env.Batches, env.Logger
	c.ExactlyOnce, c.OpenFiles = c.ExactlyOnce || env.ExactlyOnce, env.OpenFiles
	c.DeadLetter, c.Header, c.Quoted = env.DeadLetter, env.Header, env.CSV
	return file.NewLog(c)
}

func newStdout(c file.StdoutConfig, env Env) (engine.Sink, error) {
	if env.Stdout == nil {
		env.Stdout = io.Discard
	}
	c.Header = env.Header
	return file.NewStdout(c, env.Stdout)
}

func newKafka(c kafka.Config, env Env) (engine.Sink, error) { return kafka.New(c, env.Logger) }

func newJetStream(c nats.JetStreamConfig, env Env) (engine.Sink, error) {
	c.Logger = env.Logger
	return nats.NewJetStream(c)
}

func newCore(c nats.CoreConfig, env Env) (engine.Sink, error) {
	c.Logger = env.Logger
	return nats.NewCore(c)
}

func newDiscard(c discard.Config, _ Env) (engine.Sink, error) { return discard.New(c), nil }
