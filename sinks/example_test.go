package sinks_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urlfold/urlfold/config/app"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks"
)

// printConfig is what a configuration writes below "print:".
type printConfig struct {
	// Text before each batch.
	Prefix string `yaml:"prefix"`
}

// A program with an additional sink, which configurations name "print".
func ExampleDefine() {
	printed := sinks.Define("print", func() *printConfig { return &printConfig{Prefix: "> "} },
		func(c printConfig, _ *sinks.Env) (pipeline.Sink, error) {
			return pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
				for _, r := range t.Records() {
					fmt.Printf("%s%s", c.Prefix, r.Bytes)
				}
				return nil
			}), nil
		})
	dir, err := os.MkdirTemp("", "print")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	conf := filepath.Join(dir, "urlfold.yaml")
	text := "{version: 1, sources: [stdin: {from: lines}], sinks: [print: {prefix: '* '}], codec: {to: urls}, admin: {listen: ''}}"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		panic(err)
	}
	code := app.Run(context.Background(), app.Options{Sinks: []sinks.Type{printed}}, []string{"run", "-c", conf, "--until-eof"},
		app.IO{Stdin: strings.NewReader("HTTP://Example.com:80/a/../b\n"), Stderr: os.Stderr})
	fmt.Println("exit code", code)
	// Output:
	// * http://example.com/b
	// exit code 0
}
