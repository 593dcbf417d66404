package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks"
)

// A taggedConfig configures a sink that writes a tag and the record to stdout.
type taggedConfig struct {
	Tag string `yaml:"tag"`
}

func defaultTagged() *taggedConfig { return &taggedConfig{Tag: "> "} }

type tagged struct {
	tag string
	mu  sync.Mutex // workers call Submit concurrently
	w   io.Writer
}

func newTagged(c taggedConfig, env sinks.Env) (*tagged, error) {
	return &tagged{tag: c.Tag, w: env.Stdout}, nil
}

func (*tagged) Open(context.Context) error    { return nil }
func (*tagged) Barrier(context.Context) error { return nil } // Submit has written everything
func (*tagged) Close(context.Context) error   { return nil }
func (*tagged) Caps() pipeline.SinkCaps       { return pipeline.SinkCaps{Ordered: true} }

func (t *tagged) Submit(_ context.Context, _ *pipeline.Batch, ticket pipeline.Ticket) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := ticket.Stream()
	for _, r := range s.Recs {
		if _, err := fmt.Fprintf(t.w, "%s%s", t.tag, s.Bytes[r.Off:r.Off+r.Len]); err != nil {
			return err // ends the run
		}
	}
	ticket.Done(pipeline.Result{}) // the records have been written
	return nil
}
