package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources/file"
	"github.com/urlfold/urlfold/sources/kafka"
	"github.com/urlfold/urlfold/sources/nats"
)

// An Env is what a process gives to the sources that it runs.
type Env struct {
	Name         string        // of the source, for logs and metrics
	Framing      file.Framing  // where records end
	MaxRecord    int           // bytes
	BatchBytes   int           // the size of a batch
	BatchRecords int           // the most messages of a batch
	Linger       time.Duration // how long a batch that is not full waits for more
	UntilEOF     bool          // return once all that is there now was read
	Logger       *slog.Logger
	Stdin        io.Reader // of the process; nil: it must not be read
	Files        file.Host // for sources of files
}

// A Type is one kind of source. [Define] makes one.
type Type struct {
	// Name is the key that stands for the type in a configuration: "kafka".
	Name string
	// Default returns a pointer to a new configuration struct that holds the
	// defaults. Package config/field says what the struct may look like.
	Default func() any
	// New makes a source from a struct that Default returned and the configuration
	// filled in. It connects to nothing. The error joins all mistakes.
	New func(cfg any, env Env) (pipeline.Source, error)
}

// A Connector is a source that can check whether it would be able to work.
// "urlfold validate --connect" calls CheckConnect.
type Connector interface {
	CheckConnect(ctx context.Context) error
}

// Builtin returns the types of this module, in the order of their names.
func Builtin() []Type {
	return []Type{
		Define("file", ptr(file.DefaultSettings), newFile),
		Define("jetstream", ptr(nats.DefaultJetStream), newJetStream),
		Define("kafka", kafka.Default, newKafka),
		Define("nats", ptr(nats.DefaultCore), newCore),
		Define("stdin", ptr(file.DefaultStdin), newStdin),
	}
}

// Define returns the type called name, whose configuration struct is C. defaults
// returns a new C that holds the defaults, and open makes a source of one.
func Define[C any, S pipeline.Source](name string, defaults func() *C, open func(C, Env) (S, error)) Type {
	return Type{
		Name:    name,
		Default: func() any { return defaults() },
		New: func(cfg any, env Env) (pipeline.Source, error) {
			c, ok := cfg.(*C)
			if !ok {
				return nil, fmt.Errorf("source %s: configuration of type %T, want %T", name, cfg, c)
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

func newFile(c file.Settings, env Env) (pipeline.Source, error) {
	return file.NewWatcher(file.WatchConfig{
		Settings: c, Host: env.Files, Name: env.Name, Framing: env.Framing, MaxRecord: env.MaxRecord,
		UntilEOF: env.UntilEOF, Logger: env.Logger,
	})
}

func newStdin(c file.StdinSettings, env Env) (pipeline.Source, error) {
	if env.Stdin == nil {
		env.Stdin = strings.NewReader("")
	}
	cfg := file.Config{Stdin: env.Stdin, Framing: env.Framing, MaxRecord: env.MaxRecord, Linger: env.Linger}
	return file.NewStdin(c, cfg, env.Files.OnReport)
}

func newKafka(c kafka.Config, env Env) (pipeline.Source, error) {
	c.BatchBytes, c.BatchRecords, c.Linger, c.UntilEOF = env.BatchBytes, env.BatchRecords, env.Linger, env.UntilEOF
	return kafka.New(c, env.Logger)
}

func newJetStream(c nats.JetStreamConfig, env Env) (pipeline.Source, error) {
	c.UntilEOF, c.Logger = env.UntilEOF, env.Logger
	return nats.NewJetStream(c)
}

// errNoEnd says why a run of core NATS cannot end with its input.
var errNoEnd = errors.New("core NATS keeps nothing, so there is no end to read to")

func newCore(c nats.CoreConfig, env Env) (pipeline.Source, error) {
	if env.UntilEOF {
		return nil, errNoEnd
	}
	c.Logger = env.Logger
	return nats.NewCore(c)
}
