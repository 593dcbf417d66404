package main

import (
	"context"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources"
)

// A listConfig configures a source whose records are in the configuration.
type listConfig struct {
	Records []string `yaml:"records,required" min:"1"`
}

// A list emits the records of its configuration in one batch.
type list struct {
	cfg listConfig
	rt  pipeline.Runtime
}

func newList(c listConfig, _ sources.Env) (*list, error) { return &list{cfg: c}, nil }

func (l *list) Open(_ context.Context, rt pipeline.Runtime) error {
	l.rt = rt
	return nil
}

func (l *list) Run(ctx context.Context) error {
	lane := l.rt.NewLane("list", pipeline.LaneLimits{})
	defer l.rt.End(lane)
	b, err := l.rt.Get(ctx, lane)
	if err != nil {
		return nil // ctx is done
	}
	b.Line = 1
	for _, r := range l.cfg.Records {
		b.In = append(append(b.In, r...), '\n')
	}
	return l.rt.Emit(ctx, b, pipeline.Position{A: int64(len(b.In))})
}

func (l *list) Close(context.Context) error { return nil }
