// Package s3 contains the sink that writes objects to a bucket, in Amazon S3 or a
// store that speaks its protocol. It writes files to a folder with package
// sinks/file, and uploads each one when it is finished.
//
// Not covered by the stability page.
package s3

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/file"
)

// A Config configures a sink that writes objects.
type Config struct {
	connect.S3

	// Template for the paths of the objects to write: s3://BUCKET/KEY with the
	// variables of path of the file sink in KEY, at least one of them other than
	// {source.name}.
	Path string `yaml:"path,required" min:"1"`
	// Compression of the output: none, gzip or zstd. gzip and zstd take a level,
	// such as zstd:3. Default: by the extension of the path, .gz or .zst.
	Compress file.Compression `yaml:"compress"`
	// When to complete an object and start the next one. Default: never. The path
	// must contain {seq} or {time}.
	Rotate file.Rotation `yaml:"rotate"`
	// Folder for outputs until they are objects. Records are acknowledged when
	// they are durable there. It must be on the same disk as data_dir, or on a
	// disk that lasts as long. Default: the folder outputs/NAME in data_dir.
	Spool string `yaml:"spool" path:"file"`
	// Maximum time until records are synced to disk and acknowledged.
	SyncInterval time.Duration `yaml:"sync_interval" min:"1ms" max:"1m"`
	// SyncBytes is as in [file.LogConfig].
	SyncBytes field.Size `yaml:"-"`
	// Write no record twice after a crash, as exactly_once of the file sink.
	ExactlyOnce bool `yaml:"exactly_once"`
}

// Default returns the default values.
func Default() Config {
	f := file.DefaultLogConfig()
	return Config{SyncInterval: f.SyncInterval, SyncBytes: f.SyncBytes}
}

// Validate returns the joined errors in c, each a [field.Error].
func (c *Config) Validate() error {
	var errs field.Errors
	bucket, key := objects.Split(c.Path)
	switch log := c.Files(".", ""); {
	case !objects.Is(c.Path) || bucket == "" || strings.ContainsAny(bucket, "{}"):
		errs.Wrong("path", "must be s3://BUCKET/KEY, with variables only in KEY")
	case key == "" || strings.HasSuffix(key, "/"):
		errs.Wrong("path", "must name an object, not a folder")
	case log.Validate() == nil && log.Grows():
		errs.Wrong("path", "requires a variable other than {source.name}, such as {source.relpath} or {seq}: an object cannot grow")
	default:
		errs = append(errs, log.Validate())
	}
	_, err := s3.Of(c.S3, func(string) string { return "" })
	errs.Add("endpoint", err)
	return errors.Join(errs...)
}

// Target returns where the sink writes to.
func (c *Config) Target() string { return c.Path }

// Files returns the configuration of the files of the sink called name.
func (c *Config) Files(dataDir, name string) *file.LogConfig {
	l := file.DefaultLogConfig()
	folder := c.Spool
	if folder == "" {
		folder = filepath.Join(dataDir, "outputs", name)
	}
	bucket, key := objects.Split(c.Path)
	if key == "" {
		key = "none" // an error of Validate
	}
	l.Path = filepath.Join(field.Literal(folder), key)
	l.Compress, l.Rotate, l.SyncInterval, l.SyncBytes, l.ExactlyOnce, l.Mode = c.Compress, c.Rotate, c.SyncInterval, c.SyncBytes, c.ExactlyOnce, 0o600
	l.Bucket = &file.Bucket{Folder: folder, Prefix: objects.Scheme + bucket + "/", Connect: func() (*objects.Store, error) { return s3.Connect(c.S3, os.Getenv, l.Logger) }}
	return &l
}

// New returns a sink for c. log is what Files returned, with what the process
// provides. New sends no request.
func New(c Config, log *file.LogConfig) (engine.Sink, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return file.NewLog(*log)
}
