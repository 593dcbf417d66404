package file

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A LogConfig configures the file sink of a daemon, which writes one file after
// the other or one file per input, and acknowledges records when they are
// durable.
type LogConfig struct {
	// Template for the paths of the files to write. The variables are:
	// {source.relpath}, the path of the input below the fixed part of its
	// pattern, without the extension of a compressed input; {lane}, the name of
	// the input as a single file name; {source.name}, the name of the source;
	// {seq}, a number that counts the files; {time} or a format such as
	// {time:%Y%m%d%H}, the time in UTC at which a file is opened. With
	// {source.relpath} or {lane}, each input has its own output; otherwise, all
	// inputs share one output. {{} and {}} are the braces { and }.
	Path string `yaml:"path,required" min:"1" path:"template"`
	// Compression of the output: none, gzip or zstd. gzip and zstd take a level,
	// such as zstd:3. Default: by the extension of the path, .gz or .zst.
	Compress Compression `yaml:"compress"`
	// When to end a file and start the next one. Default: never. The path must
	// contain {seq} or {time}.
	Rotate Rotation `yaml:"rotate"`
	// Maximum time until records are synced to disk and acknowledged. Default: 200ms, and 1s
	// if the output is compressed, because each sync makes it a little larger.
	SyncInterval time.Duration `yaml:"sync_interval" min:"1ms" max:"1m"`
	// SyncBytes is the number of unsynced bytes that triggers a sync before the
	// interval has passed.
	SyncBytes field.Size `yaml:"-"`
	// Truncate what a killed run wrote after its last checkpoint, so that no
	// record is written twice. Requires exactly one source, of type file, s3 or objects,
	// and implies order: lane.
	ExactlyOnce bool `yaml:"exactly_once"`
	// Maximum permissions of a file, in octal. A file gets only permissions
	// that all of its inputs also have, less the umask; a broker or a pipe
	// counts as 0640. The user of the process can always read and write the
	// file. The permissions of a file that is continued are narrowed, never
	// widened.
	Mode Permissions `yaml:"permissions"`

	// Resume holds the extents of this sink in the checkpoint from which the
	// source resumes. It is used only with ExactlyOnce.
	Resume []engine.Extent
	// Lost reports that the checkpoint was damaged, so that Resume may lack outputs.
	Lost bool
	// DeadLetter reports that this is the output of rejected records. The sink
	// then discards withdrawn text (see Output.Withdraw), because the main
	// output keeps it.
	DeadLetter bool
	// Header is a line at the beginning of each output. An existing output that is
	// continued must begin with it.
	Header []byte
	// Quoted reports that records are rows of CSV, in which a line feed in quotes
	// does not end the record.
	Quoted bool
	// SourceNames holds the names of the sources, indexed by
	// engine.Lane.Source.
	SourceNames []string
	// Batches is the number of batches in the pipeline. When half of them wait
	// for a sync, the sink syncs immediately, so that the sources do not wait.
	// The default is 16.
	Batches int
	// OpenFiles is the maximum number of open outputs. The default is 256.
	OpenFiles int
	// Logger receives messages about recovery and errors. The default discards
	// them.
	Logger *slog.Logger
	// If Bucket is not nil, the sink uploads each finished file to it. Path must
	// then be below Bucket.Folder.
	Bucket *Bucket

	published func(path string) // if not nil, called when a file is finished; must not block
}

// DefaultLogConfig returns a [LogConfig] with the default values. Path is
// empty.
func DefaultLogConfig() LogConfig {
	return LogConfig{SyncBytes: 4 * field.MiB, Mode: 0o644}
}

// Rotation determines when a file ends. A zero field disables its criterion.
type Rotation struct {
	// Maximum size of a file. A batch is not divided, so a larger batch makes a
	// larger file.
	Size field.Size `yaml:"size"`
	// Interval of rotation, aligned to UTC: 1h rotates at every full hour. A
	// file without records is not rotated.
	Every time.Duration `yaml:"every"`
	// Number of records after which a file is rotated. A batch is not divided.
	Records int64 `yaml:"records" min:"0"`
}

// any reports whether any criterion is enabled.
func (r *Rotation) any() bool { return r.Size > 0 || r.Every > 0 || r.Records > 0 }

// Compression names a format: none, gzip or zstd. gzip and zstd take a level, such
// as zstd:3. If it is empty, the extension of the path determines the format.
type Compression string

// UnmarshalText accepts the values of a Compression.
func (c *Compression) UnmarshalText(text []byte) error {
	_, level, err := compress.ParseFormat(string(text), "")
	if err != nil && level == 0 {
		return errors.New("compression must be none, gzip or zstd; gzip and zstd take a level, such as zstd:3")
	}
	*c = Compression(text)
	return err
}

// Permissions are the permissions of a file. Their text form is octal: "0640".
type Permissions os.FileMode

// UnmarshalText parses permissions in octal.
func (m *Permissions) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 8, 32)
	if err != nil || n == 0 || n > 0o777 {
		return errors.New("permissions must be octal, from 0001 to 0777, such as 0640")
	}
	*m = Permissions(n)
	return nil
}

// MarshalText returns the permissions in octal.
func (m Permissions) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%04o", uint32(m)), nil }

// standardStreams are paths of the process's own output streams. The file sink
// syncs and truncates its files, which fails for a pipe.
var standardStreams = []string{"/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2"}

// Grows reports whether outputs with these settings are never finished.
func (c *LogConfig) Grows() bool {
	t, err := parseTemplate(c.Path)
	return err == nil && !t.perLane() && !t.counts()
}

// PathFor returns a path that an output can have if the relative path of its
// input is input. It returns an empty path if Path is invalid.
func (c *LogConfig) PathFor(input string) string {
	t, err := parseTemplate(c.Path)
	if err != nil {
		return ""
	}
	return t.path(values{source: "0", rel: cutCompressed(input), lane: input})
}

// ObjectFor is PathFor for the object that the output becomes. It returns an empty
// path if outputs are not objects.
func (c *LogConfig) ObjectFor(input string) string {
	if c.Bucket == nil {
		return ""
	}
	rel, err := filepath.Rel(c.Bucket.Folder, c.PathFor(input))
	if err != nil {
		return ""
	}
	return c.Bucket.Prefix + filepath.ToSlash(rel)
}

// Validate returns all problems of the configuration, joined. The types and the tags of
// the fields hold the bounds of single values. It does not access any file.
func (c *LogConfig) Validate() error {
	var errs field.Errors
	tmpl, err := parseTemplate(c.Path)
	if err != nil {
		errs.Add("path", err)
	} else if slices.Contains(standardStreams, c.Path) {
		errs.Wrong("path", "must name a file, not a standard stream; use the stdout sink")
	} else if c.Rotate.any() && !tmpl.counts() {
		errs.Wrong("rotate", "requires {seq} or {time} in the path: otherwise all files would have the same name")
	}
	if c.Compress == "" && compress.Misleading(c.Path) {
		errs.Wrong("path", "has a compression extension that cannot be written: use .gz or .zst, or set compress", "compress")
	}
	return errors.Join(errs...)
}
