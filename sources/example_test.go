package sources_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urlfold/urlfold/config/app"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources"
)

// countConfig is what a configuration writes below "count:".
type countConfig struct {
	// Number of pages.
	Pages int `yaml:"pages"`
}

// A program with an additional source, which configurations name "count".
func ExampleDefine() {
	count := sources.Define("count", func() *countConfig { return &countConfig{Pages: 1} },
		func(c countConfig, _ *sources.Env) (pipeline.Source, error) {
			return pipeline.SourceFunc(func(_ context.Context, emit func(rec []byte) error) error {
				for i := range c.Pages {
					if err := emit(fmt.Appendf(nil, "HTTP://Example.com:80/%d\n", i+1)); err != nil {
						return err
					}
				}
				return nil
			}), nil
		})
	dir, err := os.MkdirTemp("", "count")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	conf := filepath.Join(dir, "urlfold.yaml")
	text := "{version: 1, sources: [count: {from: lines, pages: 2}], sinks: [stdout: {}], codec: {to: urls}, admin: {listen: ''}}"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		panic(err)
	}
	code := app.Run(context.Background(), app.Options{Sources: []sources.Type{count}}, []string{"run", "-c", conf, "--until-eof"}, app.IO{Stdout: os.Stdout, Stderr: os.Stderr})
	fmt.Println("exit code", code)
	// Output:
	// http://example.com/1
	// http://example.com/2
	// exit code 0
}
