// Package s3 contains the source that reads the objects of a bucket, in Amazon S3
// or a store that speaks its protocol. Package sources/file reads each object as
// it reads a file, so positions, verdicts, restart points and the handling of
// finished objects are the same as for files.
//
// Not covered by the stability page.
package s3

import (
	"log/slog"
	"os"

	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/file"
)

// New returns a source for c. It uses all fields of env except the settings
// and the objects. New sends no request.
func New(c Config, env file.WatchConfig) (engine.Source, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	env.Settings = *c.Files()
	env.Objects = c.objects(env.Logger)
	if c.Ordered {
		env.Objects.ListAll, env.Objects.LookBack = c.ListAllInterval, c.LookBack
	}
	return file.NewWatcher(env)
}

// objects returns where the objects of this instance are.
func (c *Config) objects(log *slog.Logger) *file.Objects {
	return &file.Objects{Select: c.Shard.Owns, Connect: func() (*objects.Store, error) { return s3.Connect(c.S3, os.Getenv, log) }}
}

// Inputs is as Inputs of [file.Settings], for the objects of this instance.
func (c *Config) Inputs() map[string]string {
	return c.objects(slog.New(slog.DiscardHandler)).Inputs(c.Files())
}

// endpoint checks the endpoint.
func (c *Config) endpoint() error {
	_, err := s3.Of(c.S3, func(string) string { return "" })
	return err
}
