package file

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline"
)

// A LogConfig says where the sink of [NewLog] writes, and how. [DefaultLogConfig] returns one
// with all defaults.
type LogConfig struct {
	// The files to write. {source.relpath} stands for the path of the input below the fixed part of its pattern, without the extension of a compressed input; {lane} for the name of the input as one file name; {source.name} for the name of the source; {seq} for a number that counts the files; {time} or {time:%Y%m%d%H} for the time at which a file is opened, in UTC. With {source.relpath} or {lane} each input has an output of its own, else all write to one.
	Path string `yaml:"path,required" min:"1"`
	// How the output is compressed: gzip, zstd, none, or {zstd: {level: 3}}. Default: by the extension of the path, .gz or .zst.
	Compress Compression `yaml:"compress"`
	// When a file is ended and another one is begun. Default: never. The path needs {seq} or {time}.
	Rotate Rotation `yaml:"rotate"`
	// The longest time until records are brought to the disk and are answered for.
	SyncInterval time.Duration `yaml:"sync_interval" min:"1ms" max:"1m"`
	// The bytes after which they are brought to the disk at once.
	SyncBytes field.Size `yaml:"sync_bytes" min:"1"`
	// Whether what a run that died has written beyond its checkpoint is cut off, so that no record is written twice. It takes one source of files, and an order.
	ExactlyOnce bool `yaml:"exactly_once"`
	// The most permissions that a file may have, in octal. It gets those that all of its inputs have, too, less the umask; a broker or a pipe counts as 0640. The user of the process may always read and write it. A file that is continued is narrowed, never widened.
	Mode Permissions `yaml:"mode"`

	// Resume are the extents of this sink in the checkpoint that the source goes on
	// from. They count with ExactlyOnce.
	Resume []pipeline.Extent
	// DeadLetter says that this is the output of rejected records: it keeps no text
	// that is withdrawn, for the outputs of the records do.
	DeadLetter bool
	// SourceNames are the names of the sources, by pipeline.Lane.Source.
	SourceNames []string
	// Batches is how many batches the pipeline has. When half of them wait to be
	// synced they are synced at once, so that the sources do not wait. Default: 16.
	Batches int
	// OpenFiles is how many outputs may be open. Default: 256.
	OpenFiles int
	// Logger is told what Open finds and cuts off. Default: nobody.
	Logger *slog.Logger
}

// DefaultLogConfig returns the defaults of a [LogConfig]. Path is missing.
func DefaultLogConfig() LogConfig {
	return LogConfig{SyncInterval: 200 * time.Millisecond, SyncBytes: 4 * field.MiB, Mode: 0o644}
}

// Rotation says when a file is ended. What is 0 is no reason.
type Rotation struct {
	// Before a file is longer than this. A batch is not divided, so one that is longer makes a longer file.
	Size field.Size `yaml:"size"`
	// At the multiples of this in UTC: with 1h at every full hour. A file without records is not ended.
	Every time.Duration `yaml:"every"`
	// When it holds as many records. A batch is not divided.
	Records int64 `yaml:"records" min:"0"`
}

// any reports whether files are ever ended.
func (r *Rotation) any() bool { return r.Size > 0 || r.Every > 0 || r.Records > 0 }

// Compression is a format and its level, written as the name of the format or as a
// mapping: "zstd", {zstd: {level: 3}}. The zero value is for the path to decide.
type Compression struct {
	// The gzip format, RFC 1952.
	Gzip *GzipLevel `yaml:"gzip"`
	// The zstd format, RFC 8878.
	Zstd *ZstdLevel `yaml:"zstd"`

	plain bool
}

// GzipLevel is how hard gzip tries.
type GzipLevel struct {
	// 1, the fastest, to 9, the smallest; 0 is the default, 5.
	Level int `yaml:"level" min:"0" max:"9"`
}

// ZstdLevel is how hard zstd tries.
type ZstdLevel struct {
	// 1, the fastest, to 4, the smallest; 0 is the default, 1. They are near levels 1, 3, 7 and 11 of the zstd program.
	Level int `yaml:"level" min:"0" max:"4"`
}

// UnmarshalText reads gzip, zstd or none.
func (c *Compression) UnmarshalText(text []byte) error {
	switch string(text) {
	case "gzip":
		*c = Compression{Gzip: new(GzipLevel)}
	case "zstd":
		*c = Compression{Zstd: new(ZstdLevel)}
	case "none":
		*c = Compression{plain: true}
	default:
		return errors.New("the compression is gzip, zstd or none")
	}
	return nil
}

// Validate checks that there is one format, and its level.
func (c *Compression) Validate() error {
	if c.Gzip != nil && c.Zstd != nil {
		return &field.Error{Field: "zstd", Err: errors.New("gzip is asked for, too")}
	}
	_, _, err := c.resolve("")
	return err
}

// resolve returns the format and the level for the output path.
func (c *Compression) resolve(path string) (format compress.Format, level int, err error) {
	switch {
	case c.Gzip != nil:
		format, level = compress.Gzip, c.Gzip.Level
	case c.Zstd != nil:
		format, level = compress.Zstd, c.Zstd.Level
	case !c.plain:
		format = compress.ByName(path)
	}
	if format != compress.Plain {
		_, err = compress.NewPack(format, level)
	}
	return format, level, err
}

// Permissions are those of a file. Its text is octal: "0640".
type Permissions os.FileMode

// UnmarshalText reads permissions in octal.
func (m *Permissions) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 8, 32)
	if err != nil || n == 0 || n > 0o777 {
		return errors.New("permissions are octal, such as 0640")
	}
	*m = Permissions(n)
	return nil
}

// MarshalText returns the permissions in octal.
func (m Permissions) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%04o", uint32(m)), nil }

// standardStreams are paths that lead to what the process has got as its output. A
// file sink syncs and truncates, which a pipe cannot do.
var standardStreams = []string{"/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2"}

// Validate returns all that is wrong with the configuration, joined. It looks at no
// file.
func (c *LogConfig) Validate() error {
	var errs []error
	wrong := func(key string, err error) { errs = append(errs, &field.Error{Field: key, Err: err}) }
	tmpl, err := parseTemplate(c.Path)
	if err != nil {
		wrong("path", err)
	} else if slices.Contains(standardStreams, c.Path) {
		wrong("path", errors.New("names a standard stream, not a file; use the sink stdout"))
	} else if c.Rotate.any() && !tmpl.counts {
		wrong("rotate", errors.New("the path has neither {seq} nor {time}: the next file would have the name of the last"))
	}
	if err := c.Compress.Validate(); err != nil {
		wrong("compress", err)
	} else if c.Compress == (Compression{}) && compress.Misleading(c.Path) {
		errs = append(errs, &field.Error{
			Field: "path", With: []string{"compress"},
			Err: errors.New("has the extension of a compression that is not written: end it in .gz or .zst, or say what compress is"),
		})
	}
	if c.Rotate.Size < 0 || c.Rotate.Every < 0 || c.Rotate.Records < 0 {
		wrong("rotate", errors.New("is negative"))
	}
	if c.SyncInterval <= 0 {
		wrong("sync_interval", errors.New("is not positive"))
	}
	if c.SyncBytes <= 0 {
		wrong("sync_bytes", errors.New("is not positive"))
	}
	if c.Mode == 0 || c.Mode > 0o777 {
		wrong("mode", errors.New("is not from 0001 to 0777"))
	}
	return errors.Join(errs...)
}
