package sinks

import (
	"io"
	"log/slog"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// An Env is what a process provides to a sink.
type Env struct {
	Name       string       // name of the sink in the configuration, for its logs
	DeadLetter bool         // the sink gets rejected and refused records
	Header     []byte       // the start of each output, such as the names of columns; nil: nothing
	Logger     *slog.Logger // never nil
	Stdout     io.Writer    // standard output of the process; nil: the sink must not write to it
}

// A Type is a type of sink that a configuration can name, including as the dead letter.
// [Define] makes one.
type Type struct{ kind kinds.Sink }

// Name returns the name of the type in a configuration, such as "kafka".
func (t Type) Name() string { return t.kind.Name }

// Define returns the type with the given name and the configuration struct C, as package
// config/field describes it. defaults returns a new C with the default values. open makes a
// sink from a C that the configuration has filled in; it does not connect, and its error
// joins all mistakes. It must open nothing: a run calls it about three times, and opens one
// of the results; "urlfold check -c" opens none.
func Define[C any](name string, defaults func() *C, open func(c C, env *Env) (pipeline.Sink, error)) Type {
	return Type{kinds.NewSink(name, defaults, func(c C, env kinds.SinkEnv) (engine.Sink, error) {
		s, err := open(c, &Env{Name: env.Name, DeadLetter: env.DeadLetter, Header: env.Header, Logger: env.Logger, Stdout: env.Stdout})
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, &pipeline.ContractError{Part: env.Name, Text: "sink " + name + " was opened as nil"}
		}
		return kinds.Outside.Sink(s), nil
	})}
}

func init() {
	kinds.Types.Sink = func(t any) kinds.Sink { return t.(Type).kind }
}
