package pipelinetest_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/pipeline/pipelinetest"
)

// In a test of your own, t is its parameter.
func ExampleTestSink() {
	var t *testing.T
	var out *bytes.Buffer
	open := func() pipeline.Sink {
		out = new(bytes.Buffer)
		return pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
			out.Write(t.Bytes())
			return nil
		})
	}
	pipelinetest.TestSink(t, open, func() []byte { return out.Bytes() })
}
