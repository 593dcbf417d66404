package pipeline_test

import (
	"context"
	"fmt"
	"log"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources/file"
)

// Logs, in any compression, go to a sink of one function.
func Example() {
	p, err := pipeline.New(pipeline.Options{
		Job:    record.Job{Format: "combined", Fields: []record.Field{record.FieldStatus, record.FieldURL}},
		Output: pipeline.OutputTSV, Workers: 1,
		Sources: []pipeline.Source{file.Read("../testdata/sample/access.log.gz")},
		Sinks: []pipeline.Sink{pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
			for i, r := range t.Records() {
				if i < 3 {
					fmt.Printf("%s", r.Bytes)
				}
			}
			return nil // all records are durable
		})},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Run(context.Background()); err != nil {
		log.Fatal(err) // also if an archive is damaged
	}
	fmt.Println(p.Counts().URLs, "URLs")
	// Output:
	// 200	/
	// 200	/sale/100%
	// 200	/style.css?v=12
	// 183 URLs
}

// A source of one function gives each record to the pipeline.
func ExampleSourceFunc() {
	source := pipeline.SourceFunc(func(_ context.Context, emit func(rec []byte) error) error {
		for _, url := range []string{"HTTP://Example.com/a/../b", "http://example.com/%7euser"} {
			if err := emit([]byte(url)); err != nil {
				return err // the run is over
			}
		}
		return nil
	})
	sink := pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
		fmt.Printf("%s", t.Bytes())
		return nil
	})
	p, err := pipeline.New(pipeline.Options{Job: record.Job{Format: "lines"}, Sources: []pipeline.Source{source}, Sinks: []pipeline.Sink{sink}})
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// http://example.com/b
	// http://example.com/~user
}
