package file

import (
	"errors"
	"fmt"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// Settings configure the file source of a daemon.
type Settings struct {
	// Files to read: paths, folders (read recursively) and globs, in which **
	// matches any number of folders. New files that match are picked up while
	// running. The search does not follow symbolic links to folders; list the
	// linked folder itself.
	Include []string `yaml:"include,required" min:"1" path:"glob"`
	// Globs of files to exclude from the matches of include. A glob without a
	// slash applies to the name of a file, and any other glob to its path.
	Exclude []string `yaml:"exclude" path:"exclude"`
	// The share of the files that this instance reads: INDEX/COUNT, such as 0/7
	// for the first of seven instances. A hash of the path below the fixed part
	// of the pattern assigns each file to one of the instances. Requires mode:
	// batch, because a rotated file would change to another instance. Default:
	// all files.
	Shard Share `yaml:"shard"`
	// batch reads all files to their ends and exits; tail also waits for more
	// data and for new files.
	Mode string `yaml:"mode" enum:"batch,tail"`
	// In mode batch: whether a run succeeds if no file matches include and the
	// checkpoint knows no file either. Otherwise the run ends with exit code
	// 78.
	AllowEmpty bool `yaml:"allow_empty"`
	// How to handle the records of a damaged compressed file. A record is
	// verified when a checksum covers it and matches; in a gzip file that is
	// the trailer of its member. No record after the first failure is verified,
	// and a record that spans two members belongs to the later member. Formats
	// without checksums, such as xerial snappy or zstd frames written without
	// them, have no verified records. emit-and-report: write all records that
	// can be read, and log which of them are verified. quarantine: write
	// verified records only. If every output is a separate file for each input,
	// without rotation, and exactly_once is on, the unverified records are
	// withdrawn from the output and kept, as they were read, in
	// OUTPUT.unverified. Otherwise compressed files are read twice, the first
	// time to find out what is verified, and the unverified records stay in the
	// input. skip-file: read compressed files twice, write nothing of a damaged
	// file and create no output for it. If a file turns out to be damaged after
	// a part of it was written, the rest is handled as with emit-and-report.
	// stop: like emit-and-report, but the run ends with an error. Plain files
	// are always read with emit-and-report.
	OnDamage string `yaml:"on_damage" enum:"emit-and-report,quarantine,skip-file,stop"`
	// In mode tail: how long a compressed file must stay unchanged until it
	// counts as damaged (if it ends too early) or as finished (if it is
	// complete). Until then it is assumed to be still being written.
	DamageAfter time.Duration `yaml:"damage_after" min:"0s"`
	// RestartPointEvery is the distance between restart points in a compressed
	// file, in decompressed bytes. Reading resumes at a restart point after a
	// restart. Each takes up to 32 KiB on disk.
	RestartPointEvery field.Size `yaml:"-"`
	// The limits on the expansion of a compressed file.
	Limits field.Limits `yaml:"limits"`
	// What to do with a file once all of its records are durable in the
	// outputs: keep, delete, or move_to with a folder. Damaged files, and files
	// with trailing data after their end, are kept. In mode tail, only rotated
	// files and compressed files are ever finished.
	OnFinish OnFinish `yaml:"on_finish" enum:"keep,delete"`
	// How often to look for new files and for new data. File system
	// notifications, where available, make it faster.
	PollInterval time.Duration `yaml:"poll_interval" min:"1ms"`
	// Where to start in files that exist when there is no checkpoint yet. latest
	// applies to plain files in mode tail; line numbers then count from there.
	Start string `yaml:"start" enum:"earliest,latest"`
	// Number of files to keep open. More files than that can be followed. If
	// the descriptor limit of the process (ulimit -n) is lower, fewer files are
	// kept open, and a warning at start names both numbers.
	MaxOpenFiles int `yaml:"max_open_files" min:"1"`
	// Close a file that has not changed for this long. Data written to a closed
	// and deleted file is lost.
	IdleClose time.Duration `yaml:"idle_close" min:"1ms"`
	// FingerprintBytes is how many bytes at the beginning of the decompressed text
	// identify a file.
	FingerprintBytes field.Size `yaml:"-"`
	// How long to keep reading a renamed or deleted file after its last change.
	// Also how long a file that looks like a copy of a known file, such as
	// rotation makes, must stay unchanged until it counts as a separate file.
	RotateWait time.Duration `yaml:"rotate_wait" min:"0s"`
	// How long to keep the checkpoint of a file that is gone.
	ForgetAfter time.Duration `yaml:"forget_after" min:"0s"`
	// Number of files to read at the same time.
	Readers int `yaml:"max_readers" min:"1" max:"256"`
}

// OnFinish is what to do with a finished file. In YAML it is the string "keep"
// or "delete", or a mapping with move_to. The zero OnFinish is keep.
type OnFinish struct {
	word string
	// Folder to move finished files to. They keep their path below the fixed
	// part of the glob. If the name is taken, a number is added. The folder may
	// be on another file system.
	MoveTo string `yaml:"move_to,required" min:"1" path:"file"`
}

// The values of settings.
const (
	modeBatch  = "batch"
	modeTail   = "tail"
	damageEmit = "emit-and-report"
	damageSkip = "skip-file"
	damageStop = "stop"

	damageQuarantine = "quarantine"

	startBegin = "earliest"
	startEnd   = "latest"
	keepFile   = "keep"
	deleteFile = "delete"
)

// OnDamageNames returns the values of on_damage, the default first.
func OnDamageNames() []string {
	return []string{damageEmit, damageQuarantine, damageSkip, damageStop}
}

var errOnFinish = errors.New(`must be "keep", "delete" or a mapping with move_to`)

// UnmarshalText reads "keep" and "delete".
func (o *OnFinish) UnmarshalText(text []byte) error {
	switch s := string(text); s {
	case keepFile, deleteFile:
		*o = OnFinish{word: s}
		return nil
	}
	return errOnFinish
}

// MarshalText returns what String returns; it omits the folder of MoveTo.
func (o OnFinish) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// String returns "keep", "delete" or "move_to".
func (o OnFinish) String() string {
	switch {
	case o.MoveTo != "":
		return "move_to"
	case o.word == "":
		return keepFile
	}
	return o.word
}

// DefaultSettings returns the defaults of [Settings].
func DefaultSettings() Settings {
	return Settings{
		Mode:              modeTail,
		OnDamage:          damageEmit,
		DamageAfter:       time.Minute,
		RestartPointEvery: compress.DefaultRestartEvery,
		Limits:            field.DefaultLimits(),
		PollInterval:      time.Second,
		Start:             startBegin,
		MaxOpenFiles:      512,
		IdleClose:         5 * time.Minute,
		FingerprintBytes:  field.KiB,
		RotateWait:        10 * time.Second,
		ForgetAfter:       7 * 24 * time.Hour,
		Readers:           4,
	}
}

// Batch reports whether files are read to their ends and not followed.
func (s *Settings) Batch() bool { return s.Mode == modeBatch }

// mayBeEmpty reports whether a run may find no files. One of several shards may.
func (s *Settings) mayBeEmpty() bool { return s.AllowEmpty || !s.Batch() || s.Shard.Of > 1 }

// Validate returns errors that concern several fields of s, and invalid globs.
// The tags of the fields hold the bounds of single values.
func (s *Settings) Validate() error {
	var errs field.Errors
	for _, list := range []struct {
		field    string
		patterns []string
	}{{"include", s.Include}, {"exclude", s.Exclude}} {
		for i, p := range list.patterns {
			if p == "" || !doublestar.ValidatePathPattern(p) {
				errs.Wrong(fmt.Sprintf("%s[%d]", list.field, i), "invalid glob pattern")
			}
		}
	}
	if s.Mode == modeTail && s.AllowEmpty {
		errs.Wrong("allow_empty", "requires mode: batch (mode tail waits for files)")
	}
	if s.Mode == modeTail && s.Shard.Of > 0 {
		errs.Wrong("shard", "requires mode: batch (in mode tail, a rotated file would change to another instance)")
	}
	if s.Mode == modeBatch && s.Start == startEnd {
		errs.Wrong("start", "must be \"earliest\" in mode batch")
	}
	return errors.Join(errs...)
}

// BusyFiles returns how many descriptors a source opens in addition to
// MaxOpenFiles: one for each reader and each verifier, one for the scan, and
// one for a candidate that is being examined.
func (s *Settings) BusyFiles() int { return max(1, s.Readers) + s.verifiers() + 2 }

// verifiers returns the number of goroutines that compare file contents.
func (s *Settings) verifiers() int { return max(1, s.Readers/2) }

// decoding returns the options of package compress for a file, without restart
// points.
func decoding(l field.Limits, name string) compress.Options {
	return compress.Options{
		Limits: compress.Limits{MaxRatio: l.MaxRatio, MaxBytes: int64(l.MaxDecompressed), MaxWindow: int64(l.MaxWindow)},
		Name:   name,
	}
}
