package main

import (
	"bytes"
	"testing"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/pipeline/pipelinetest"
	"github.com/urlfold/urlfold/sinks"
)

func TestList(t *testing.T) {
	pipelinetest.TestSource(t, func() pipeline.Source {
		s, err := newList(listConfig{Records: []string{"home|http://example.com/", "ad|http://example.com/?a=1"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestTagged(t *testing.T) {
	var out *bytes.Buffer
	open := func() pipeline.Sink {
		out = new(bytes.Buffer)
		s, err := newTagged(taggedConfig{}, &sinks.Env{Stdout: out})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	pipelinetest.TestSink(t, open, func() []byte { return out.Bytes() })
}
