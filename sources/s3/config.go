package s3

import (
	"errors"
	"fmt"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/sources/file"
)

// A Config configures a source that reads the objects of a bucket.
type Config struct {
	connect.S3

	// Objects to read: s3://BUCKET/KEY is an object, the objects in a folder, or
	// with * ? [ or { the matches of a glob, in which ** matches any number of
	// folders. s3://BUCKET is all objects of a bucket.
	Include []string `yaml:"include,required" min:"1"`
	// Globs of objects to exclude. A glob without a slash matches the last part
	// of a key, any other glob the key below the folder.
	Exclude []string `yaml:"exclude"`
	// The share of the objects that this instance reads: INDEX/COUNT, such as 0/7
	// for the first of seven instances. A hash of the key below the folder assigns
	// each object to one of them. Default: all objects.
	Shard file.Share `yaml:"shard"`
	// batch reads the objects that exist at the start and exits; poll also
	// waits for new objects.
	Mode string `yaml:"mode" enum:"batch,poll"`
	// How often to list the objects in mode poll. A listing takes a request for
	// each 1,000 objects.
	PollInterval time.Duration `yaml:"poll_interval" min:"1ms"`
	// In mode poll: whether keys sort by time after the text before their first date,
	// such as 2026/11/30, 2026-11-30 or 20261130. Then most listings skip the objects
	// that are older than look_back.
	Ordered bool `yaml:"ordered"`
	// With ordered: how late an object may appear, after objects whose keys
	// sort after its key. If it appears later, only a listing of all objects
	// finds it.
	LookBack time.Duration `yaml:"look_back" min:"1s"`
	// With ordered: how often to list all objects. The source also does so when it
	// starts.
	ListAllInterval time.Duration `yaml:"list_all_interval" min:"1s"`
	// In mode batch: whether a run succeeds if there are no objects and the
	// checkpoint knows no object either. Otherwise the run ends with exit code
	// 78.
	AllowEmpty bool `yaml:"allow_empty"`
	// How to handle the records of a damaged compressed object: as on_damage of
	// the file source.
	OnDamage string `yaml:"on_damage" enum:"emit-and-report,quarantine,skip-file,stop"`
	// RestartPointEvery is as in [file.Settings].
	RestartPointEvery field.Size `yaml:"-"`
	// The limits on the expansion of a compressed object.
	Limits field.Limits `yaml:"limits"`
	// What to do with an object once all of its records are durable in the
	// outputs. Damaged objects are kept.
	OnFinish string `yaml:"on_finish" enum:"keep,delete"`
	// How long to keep the checkpoint of an object that is gone.
	ForgetAfter time.Duration `yaml:"forget_after" min:"0s"`
	// Number of objects to read at the same time. Each takes about 5 MiB.
	Readers int `yaml:"max_readers" min:"1" max:"256"`
}

// The values of Mode.
const (
	modeBatch = "batch"
	modePoll  = "poll"
)

// Default returns the default values.
func Default() Config {
	f := file.DefaultSettings()
	return Config{
		Mode: modePoll, PollInterval: time.Minute, LookBack: 48 * time.Hour, ListAllInterval: time.Hour, OnDamage: f.OnDamage, RestartPointEvery: f.RestartPointEvery,
		Limits: f.Limits, OnFinish: f.OnFinish.String(), ForgetAfter: f.ForgetAfter, Readers: f.Readers,
	}
}

// Validate returns the joined errors in c, each a [field.Error].
func (c *Config) Validate() error {
	var errs field.Errors
	for i, p := range c.Include {
		if bucket, key := objects.Split(p); !objects.Is(p) || bucket == "" {
			errs.Wrong(fmt.Sprintf("include[%d]", i), "must be s3://BUCKET or s3://BUCKET/KEY")
		} else if !doublestar.ValidatePattern(key) {
			errs.Wrong(fmt.Sprintf("include[%d]", i), "invalid glob pattern")
		}
	}
	for i, p := range c.Exclude {
		if p == "" || !doublestar.ValidatePattern(p) {
			errs.Wrong(fmt.Sprintf("exclude[%d]", i), "invalid glob pattern")
		}
	}
	if c.Mode == modePoll && c.AllowEmpty {
		errs.Wrong("allow_empty", "requires mode: batch (mode poll waits for objects)")
	}
	if c.Mode == modeBatch && c.Ordered {
		errs.Wrong("ordered", "requires mode: poll (mode batch lists the objects once)")
	}
	errs.Add("endpoint", c.endpoint())
	return errors.Join(errs...)
}

// Files returns the settings of the file source that reads the objects.
func (c *Config) Files() *file.Settings {
	s := file.DefaultSettings()
	s.Include, s.Exclude, s.AllowEmpty = c.Include, c.Exclude, c.AllowEmpty
	if s.Mode = "tail"; c.Mode == modeBatch {
		s.Mode, s.Shard = "batch", c.Shard
	}
	s.PollInterval, s.OnDamage, s.RestartPointEvery = c.PollInterval, c.OnDamage, c.RestartPointEvery
	s.Limits, s.ForgetAfter, s.Readers = c.Limits, c.ForgetAfter, c.Readers
	_ = s.OnFinish.UnmarshalText([]byte(c.OnFinish)) // the configuration has checked the value
	return &s
}

// Covers reports whether the source reads the object at path, if it exists.
func (c *Config) Covers(path string) bool { return c.Files().Covers(path) }
