package sources

import (
	"io"
	"log/slog"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// An Env is what a process provides to a source.
type Env struct {
	Name       string       // name of the source in the configuration, for its logs
	BatchBytes int          // size of a batch, in bytes
	UntilEOF   bool         // the run is to end with the data that exists now
	Logger     *slog.Logger // never nil
	Stdin      io.Reader    // standard input of the process; nil: none
}

// A Type is a type of source that a configuration can name. [Define] makes one.
type Type struct{ kind kinds.Source }

// Name returns the name of the type in a configuration, such as "kafka".
func (t Type) Name() string { return t.kind.Name }

// Define returns the type with the given name and the configuration struct C,
// as package config/field describes it. defaults returns a new C with the
// default values. open makes a source from a C that the configuration has
// filled in; its error joins all mistakes. open must not connect or open files:
// a run calls it about three times and uses one of the results; "urlfold check
// -c" uses none.
func Define[C any](name string, defaults func() *C, open func(c C, env *Env) (pipeline.Source, error)) Type {
	return Type{kinds.NewSource(name, defaults, func(c C, env kinds.SourceEnv) (engine.Source, error) {
		s, err := open(c, &Env{Name: env.Name, BatchBytes: env.BatchBytes, UntilEOF: env.UntilEOF, Logger: env.Logger, Stdin: env.Stdin})
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, &pipeline.ContractError{Part: env.Name, Text: "source " + name + " was opened as nil"}
		}
		return kinds.Outside.Source(s, env), nil
	})}
}

func init() {
	kinds.Types.Source = func(t any) kinds.Source { return t.(Type).kind }
}
