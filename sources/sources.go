package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/file"
	"github.com/urlfold/urlfold/sources/kafka"
	"github.com/urlfold/urlfold/sources/nats"
)

// An Env is what a process provides to a source.
type Env struct {
	Name         string        // of the source, for logs and metrics
	Framing      file.Framing  // finds record boundaries
	MaxRecord    int           // bytes
	BatchBytes   int           // size of a batch
	BatchRecords int           // maximum number of messages in a batch
	Linger       time.Duration // how long a batch that is not full waits for more data
	UntilEOF     bool          // return once all data that exists now has been read
	Delays       bool          // messages may be requested again any number of times
	Logger       *slog.Logger
	Stdin        io.Reader // stdin of the process; nil: none
	Files        file.Host // for file sources
}

// A Type is a kind of source. [Define] creates one.
type Type struct {
	// Name identifies the type in a configuration, such as "kafka".
	Name string
	// Default returns a pointer to a new configuration struct with the default
	// values. Package config/field describes the permitted structs.
	Default func() any
	// New creates a source from a struct that Default returned and the
	// configuration filled in. It does not connect. The error joins all
	// mistakes.
	New func(cfg any, env Env) (engine.Source, error)
}

// A Connector is a source that can check its connection and permissions.
// "urlfold validate --connect" calls CheckConnect.
type Connector interface {
	CheckConnect(ctx context.Context) error
}

// Builtin returns the built-in source types, sorted by name.
func Builtin() []Type {
	return []Type{
		Define("file", ptr(file.DefaultSettings), newFile),
		Define("jetstream", ptr(nats.DefaultJetStream), newJetStream),
		Define("kafka", kafka.Default, newKafka),
		Define("nats", ptr(nats.DefaultCore), newCore),
		Define("stdin", ptr(file.DefaultStdin), newStdin),
	}
}

// Define returns the type with the given name and the configuration struct C.
// defaults returns a new C with the default values, and open creates a source
// from a C.
func Define[C any, S engine.Source](name string, defaults func() *C, open func(C, Env) (S, error)) Type {
	return Type{
		Name:    name,
		Default: func() any { return defaults() },
		New: func(cfg any, env Env) (engine.Source, error) {
			c, ok := cfg.(*C)
			if !ok {
				return nil, fmt.Errorf("source %s: configuration of type %T, want %T", name, cfg, c)
			}
			s, err := open(*c, env)
			if err != nil {
				return nil, err // not an interface that holds a nil S
			}
			return s, nil
		},
	}
}

// ptr returns a function that returns a pointer to a result of f.
func ptr[C any](f func() C) func() *C {
	return func() *C { return new(f()) }
}

func newFile(c file.Settings, env Env) (engine.Source, error) {
	return file.NewWatcher(file.WatchConfig{
		Settings: c, Host: env.Files, Name: env.Name, Framing: env.Framing, MaxRecord: env.MaxRecord,
		UntilEOF: env.UntilEOF, Logger: env.Logger,
	})
}

func newStdin(c file.StdinSettings, env Env) (engine.Source, error) {
	if env.Stdin == nil {
		env.Stdin = strings.NewReader("")
	}
	cfg := file.Config{Stdin: env.Stdin, Framing: env.Framing, MaxRecord: env.MaxRecord, Linger: env.Linger}
	return file.NewStdin(c, cfg, env.Files.OnReport)
}

func newKafka(c kafka.Config, env Env) (engine.Source, error) {
	c.BatchBytes, c.BatchRecords, c.Linger, c.UntilEOF = env.BatchBytes, env.BatchRecords, env.Linger, env.UntilEOF
	return kafka.New(c, env.Logger)
}

func newJetStream(c nats.JetStreamConfig, env Env) (engine.Source, error) {
	c.UntilEOF, c.Delays, c.Logger = env.UntilEOF, env.Delays, env.Logger
	return nats.NewJetStream(c)
}

// errNoEnd is the error of a core NATS source in a run that is to end with its
// input.
var errNoEnd = errors.New("core NATS stores no messages, so a run cannot end with its input")

func newCore(c nats.CoreConfig, env Env) (engine.Source, error) {
	if env.UntilEOF {
		return nil, errNoEnd
	}
	c.Logger = env.Logger
	return nats.NewCore(c)
}
