package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/checkpoint"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources/file"
	"github.com/urlfold/urlfold/sources/kafka"
	"github.com/urlfold/urlfold/sources/nats"
)

// An Env is what a process gives to the sources that it makes.
type Env struct {
	Name      string            // of the source
	Framing   file.Framing      // where records end
	Store     *checkpoint.Store // checkpoints of files
	MaxRecord int               // bytes
	// NewFit makes a function that reports whether a record fits the format.
	NewFit       func(head []byte) func(rec []byte) bool
	BatchBytes   int
	FixedBatches bool // batches of files end at fixed positions: see file.WatchConfig.Grid
	BatchRecords int
	Linger       time.Duration
	Hold         bool // what a source of files has emitted can be withdrawn: see file.WatchConfig
	UntilEOF     bool // end when all that is there was read
	Logger       *slog.Logger
	OnReport     func(file.Report) // see file.WatchConfig
	OpenFiles    int               // that a source of files may keep open; 0: as it is configured
	Stdin        io.Reader         // of the process; nil: it is not to be read
}

// A Type is a kind of source.
type Type struct {
	// Default returns a pointer to a configuration that holds the defaults.
	Default func() any
	// New makes a source of what Default has returned, filled in. It connects to
	// nothing. The error tells all that is wrong, joined.
	New func(cfg any, env Env) (pipeline.Source, error)
}

// A Connector is a source that can look whether it would be able to work.
type Connector interface {
	CheckConnect(ctx context.Context) error
}

// Types are the sources that there are, by the name that they have in a
// configuration.
var Types = map[string]Type{
	"file": {
		Default: func() any { return new(file.DefaultSettings()) },
		New:     typed(newFile),
	},
	"stdin": {
		Default: func() any { return new(file.DefaultStdin()) },
		New:     typed(newStdin),
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
}

// typed makes a Type.New of a function that takes a configuration of one type.
func typed[C any, S pipeline.Source](f func(C, Env) (S, error)) func(any, Env) (pipeline.Source, error) {
	return func(cfg any, env Env) (pipeline.Source, error) {
		c, ok := cfg.(*C)
		if !ok {
			return nil, fmt.Errorf("sources: a configuration of type %T, want %T", cfg, c)
		}
		s, err := f(*c, env)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

func newFile(c file.Settings, env Env) (*file.Watcher, error) {
	if env.OpenFiles > 0 {
		c.MaxOpenFiles = env.OpenFiles
	}
	grid := int64(0)
	if env.FixedBatches {
		grid = file.GridBytes
	}
	return file.NewWatcher(file.WatchConfig{
		Grid: grid, Settings: c, Name: env.Name, Framing: env.Framing, Store: env.Store, MaxRecord: env.MaxRecord,
		UntilEOF: env.UntilEOF, Logger: env.Logger, OnReport: env.OnReport, Hold: env.Hold, NewFit: env.NewFit,
	})
}

func newStdin(c file.StdinSettings, env Env) (*file.Stdin, error) {
	if env.Stdin == nil {
		env.Stdin = strings.NewReader("")
	}
	cfg := file.Config{Stdin: env.Stdin, Framing: env.Framing, MaxRecord: env.MaxRecord, Linger: env.Linger}
	return file.NewStdin(c, cfg, env.OnReport)
}

func newKafka(c kafka.Config, env Env) (*kafka.Source, error) {
	c.BatchBytes, c.BatchRecords, c.Linger, c.UntilEOF = env.BatchBytes, env.BatchRecords, env.Linger, env.UntilEOF
	return kafka.New(c, env.Logger)
}

func newJetStream(c nats.JetStreamConfig, env Env) (*nats.JetStream, error) {
	c.UntilEOF, c.Logger = env.UntilEOF, env.Logger
	return nats.NewJetStream(c)
}

// errNoEnd says why a run of core NATS cannot end with its input.
var errNoEnd = errors.New("core NATS keeps nothing, so there is no end to read to")

func newCore(c nats.CoreConfig, env Env) (*nats.Core, error) {
	if env.UntilEOF {
		return nil, errNoEnd
	}
	c.Logger = env.Logger
	return nats.NewCore(c)
}
