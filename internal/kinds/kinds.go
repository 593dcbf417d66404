// Package kinds holds the types of sources and sinks that a configuration
// can name, and the conversions between the types that other modules see
// (packages pipeline, sources and sinks) and the types of the engine.
package kinds

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Source is a type of source.
type Source struct {
	// Name identifies the type in a configuration, such as "kafka".
	Name string
	// Default returns a pointer to a new configuration struct with the default
	// values. Package config/field describes the permitted structs.
	Default func() any
	// New creates a source from a struct that Default returned and the
	// configuration filled in. It does not connect. The error joins all
	// mistakes. Validation creates sources, too, and neither opens nor closes them.
	New func(cfg any, env SourceEnv) (engine.Source, error)
}

// NewSource returns the type with the given name and the configuration struct C.
func NewSource[C any](name string, defaults func() *C, open func(C, SourceEnv) (engine.Source, error)) Source {
	return Source{
		Name:    name,
		Default: func() any { return defaults() },
		New: func(cfg any, env SourceEnv) (engine.Source, error) {
			c, ok := cfg.(*C)
			if !ok {
				return nil, fmt.Errorf("source %s: configuration of type %T, want %T", name, cfg, c)
			}
			return open(*c, env)
		},
	}
}

// A SourceEnv is what a process provides to a source.
type SourceEnv struct {
	Name         string        // name of the source, for logs and metrics
	Framing      Framing       // finds record boundaries
	MaxRecord    int           // bytes
	BatchBytes   int           // size of a batch
	BatchRecords int           // maximum number of messages in a batch
	Linger       time.Duration // how long a batch that is not full waits for more data
	UntilEOF     bool          // return once all data that exists now has been read
	Delays       bool          // a message may be delivered any number of times before its records are written
	Logger       *slog.Logger
	Stdin        io.Reader // stdin of the process; nil: none
	Files        any       // for file sources: a file.Host of package sources/file
}

// A Framing finds where records end, and the header record.
type Framing interface {
	Cut(block []byte) int
	Head(start []byte) int
}

// A Sink is a type of sink. A sink of any type can also be the dead letter.
type Sink struct {
	// Name is the key of the type in a configuration, such as "kafka".
	Name string
	// Default returns a pointer to a new configuration struct with the default
	// values. Package config/field describes what the struct may contain.
	Default func() any
	// New creates a sink from a struct that Default returned and the
	// configuration filled in. It does not open any connection. The error joins
	// all problems. Validation creates sinks, too, and neither opens nor closes them.
	New func(cfg any, env SinkEnv) (engine.Sink, error)
}

// NewSink returns the type with the given name and the configuration struct C.
func NewSink[C any](name string, defaults func() *C, open func(C, SinkEnv) (engine.Sink, error)) Sink {
	return Sink{
		Name:    name,
		Default: func() any { return defaults() },
		New: func(cfg any, env SinkEnv) (engine.Sink, error) {
			c, ok := cfg.(*C)
			if !ok {
				return nil, fmt.Errorf("sink %s: configuration of type %T, want %T", name, cfg, c)
			}
			return open(*c, env)
		},
	}
}

// A SinkEnv holds the settings that a process passes to its sinks.
type SinkEnv struct {
	Name        string          // name of the sink, for logs and metrics
	Resume      []engine.Extent // output extents from the last checkpoint
	Lost        bool            // the checkpoint was damaged, so outputs may lack an extent
	DataDir     string          // folder for the state of the process
	SourceNames []string        // source names, indexed by engine.Lane.Source
	Batches     int             // number of batches in the pipeline
	OpenFiles   int             // maximum number of files that the sink may keep open; 0: its default
	ExactlyOnce bool            // checkpoints hold the output extents
	DeadLetter  bool            // the sink receives rejected records
	Ordered     bool            // the records of a lane must keep their order
	Logger      *slog.Logger
	Header      []byte    // line at the beginning of each output; nil: none
	CSV         bool      // records are rows of CSV
	Stdout      io.Writer // standard output of the process; nil: the sink must not write to it
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

// Outside converts between the types that other modules see and the types of
// the engine. Package pipeline sets it.
var Outside struct {
	Source func(source any, env SourceEnv) engine.Source // of a pipeline.Source; env has Name, Framing and MaxRecord
	Sink   func(sink any) engine.Sink                    // of a pipeline.Sink

	// The other direction, for sources and sinks of this module.
	SourceOf func(open func(SourceEnv) (engine.Source, error)) any // a pipeline.Source; env has Name, Framing and MaxRecord
	SinkOf   func(engine.Sink) any                                 // a pipeline.Sink

	// Ticket returns a pipeline.Ticket for a batch and its ticket, for tests of sinks.
	Ticket func(*engine.Batch, engine.Ticket) any
}

// Types converts the opaque types of packages sources and sinks, which set it.
var Types struct {
	Source func(any) Source // of a sources.Type
	Sink   func(any) Sink   // of a sinks.Type
}
