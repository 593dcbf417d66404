package main

import (
	"context"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources"
)

// A listConfig configures a source of records that the configuration itself holds.
type listConfig struct {
	Records []string `yaml:"records,required" min:"1"`
	Repeat  int      `yaml:"repeat" min:"1"`
}

func defaultList() *listConfig { return &listConfig{Repeat: 1} }

// A list emits the records of its configuration, one batch a round.
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
	var at pipeline.Position
	for round := range l.cfg.Repeat {
		b, err := l.rt.Get(ctx, lane)
		if err != nil {
			return nil // told to stop; nothing is half done
		}
		b.Off, b.Line = at.A, int64(round*len(l.cfg.Records)+1)
		for _, r := range l.cfg.Records {
			b.In = append(append(b.In, r...), '\n')
		}
		at.A += int64(len(b.In))
		if err := l.rt.Emit(ctx, b, at); err != nil {
			return err
		}
	}
	return nil
}

func (l *list) Close(context.Context) error { return nil }
