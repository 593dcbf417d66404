package file

import (
	"errors"
	"fmt"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// Settings are what a user writes about files that a daemon reads. The comments
// of the fields are the reference.
type Settings struct {
	// The files to read: paths, folders (read with all below them) and globs, with
	// ** for any number of folders. New files that match are found while running.
	// Folders and ** go into no linked folders; name such a one itself.
	Include []string `yaml:"include,required" min:"1"`
	// Globs of files to leave alone, of those that include names.
	Exclude []string `yaml:"exclude"`
	// batch reads all files to their ends and is done; tail waits for more, and for
	// new files.
	Mode string `yaml:"mode" enum:"batch,tail"`
	// With batch: whether a run is a success if no file matches include, and none is
	// known from a run before. Otherwise it ends with exit code 2.
	AllowEmpty bool `yaml:"allow_empty"`
	// What becomes of the records of a damaged compressed file. A record is verified
	// when a checksum covers it and matches: in a gzip file, when the trailer of its
	// member does. After the first failure no record is verified, and a record across
	// two members belongs to the later one. Formats without checksums, such as xerial
	// snappy or zstd frames made without them, have no verified records.
	// emit_and_report: all records that can be read go out, and the log says which of
	// them are verified. quarantine: only verified records go out. If every output is
	// a file of its own for each input, without rotation, and exactly_once is on, the
	// others are withdrawn from it and kept, as they were read, in OUTPUT.unverified;
	// else compressed files are read twice, first to find what is verified, and the
	// others stay in the input. skip_file: compressed files are read twice, and nothing
	// of a damaged one goes out; no output is made for it. One that is damaged only
	// after a part of it went out is read on as with emit_and_report. stop: as
	// emit_and_report, but the run ends with an error. Plain files are always read
	// with emit_and_report.
	OnDamage string `yaml:"on_damage" enum:"emit_and_report,quarantine,skip_file,stop"`
	// With tail: how long a compressed file that is cut short must not have changed
	// before that counts as damage, and a whole one before it counts as finished.
	// Before that, it is taken for one that is still being written.
	DamageAfter time.Duration `yaml:"damage_after" min:"0s"`
	// How many decompressed bytes lie between two positions in a compressed file from
	// which reading can go on after a restart. Each costs up to 32 KiB on disk.
	RestartPointEvery field.Size `yaml:"restart_point_every" min:"1MiB"`
	// What a compressed file may cost.
	Limits field.Limits `yaml:"limits"`
	// What becomes of a file once all of it is durable in the outputs: keep, delete,
	// or move_to with a folder. Damaged files, and those with something behind their
	// end, are kept. With tail, only files that were rotated and compressed files are
	// ever finished.
	OnFinish OnFinish `yaml:"on_finish" enum:"keep,delete"`
	// How often to look for new files and for more in known ones. Notifications of
	// the system make it quicker where there are any.
	PollInterval time.Duration `yaml:"poll_interval" min:"1ms"`
	// Where to begin with the files that are there when there is no checkpoint at all
	// yet. end is for plain files with tail, and counts lines from there.
	Start string `yaml:"start" enum:"beginning,end"`
	// How many files are kept open. There may be many more files than that. If the
	// descriptor limit of the process (ulimit -n) does not allow as many, fewer are kept
	// open, and a warning at start names both numbers.
	MaxOpenFiles int `yaml:"max_open_files" min:"1"`
	// When a file that has not changed for this long is closed. What is written to
	// it after it was deleted is then lost.
	IdleClose time.Duration `yaml:"idle_close" min:"1ms"`
	// How many bytes at the beginning of the decompressed text a file is known by.
	FingerprintBytes field.Size `yaml:"fingerprint_bytes" min:"16" max:"1KiB"`
	// How long a renamed or deleted file is read on after its last change, and how
	// long a file that looks like a copy of a known one, as rotation makes them, must
	// not have changed to be taken for a file of its own.
	RotateWait time.Duration `yaml:"rotate_wait" min:"0s"`
	// How long the checkpoint of a file is remembered after it is gone.
	ForgetAfter time.Duration `yaml:"forget_after" min:"0s"`
	// How many files are read at the same time.
	Readers int `yaml:"readers" min:"1" max:"256"`
}

// OnFinish says what becomes of a finished file. It is a text, "keep" or
// "delete", or a mapping. The zero OnFinish is keep.
type OnFinish struct {
	word string
	// The folder to move finished files to, below which they keep their path below
	// the fixed part of the glob. A name that is taken gets a number. A folder on
	// another file system is fine.
	MoveTo string `yaml:"move_to,required" min:"1"`
}

// The texts of settings.
const (
	modeBatch  = "batch"
	modeTail   = "tail"
	damageEmit = "emit_and_report"
	damageSkip = "skip_file"
	damageStop = "stop"

	damageQuarantine = "quarantine"

	startBegin = "beginning"
	startEnd   = "end"
	keepFile   = "keep"
	deleteFile = "delete"
)

// OnDamageNames returns the values of on_damage, the default first.
func OnDamageNames() []string {
	return []string{damageEmit, damageQuarantine, damageSkip, damageStop}
}

var errOnFinish = errors.New("it is keep, delete, or a mapping with move_to")

// UnmarshalText reads "keep" and "delete".
func (o *OnFinish) UnmarshalText(text []byte) error {
	switch s := string(text); s {
	case keepFile, deleteFile:
		*o = OnFinish{word: s}
		return nil
	}
	return errOnFinish
}

// MarshalText returns the text: it does not tell of MoveTo.
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

// DefaultSettings returns what holds for all that the user does not write.
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
		ForgetAfter:       24 * time.Hour,
		Readers:           4,
	}
}

// Batch reports whether files are read to their ends, and not followed.
func (s *Settings) Batch() bool { return s.Mode == modeBatch }

// Validate returns what is wrong with s as a whole. The bounds of single fields
// are in their tags.
func (s *Settings) Validate() error {
	var errs []error
	wrong := func(key, text string) {
		errs = append(errs, &field.Error{Field: key, Err: errors.New(text)})
	}
	for _, list := range []struct {
		field    string
		patterns []string
	}{{"include", s.Include}, {"exclude", s.Exclude}} {
		for i, p := range list.patterns {
			if p == "" || !doublestar.ValidatePathPattern(p) {
				wrong(fmt.Sprintf("%s[%d]", list.field, i), "is no glob")
			}
		}
	}
	if len(s.Include) == 0 {
		wrong("include", "it is empty")
	}
	if s.Mode == modeTail && s.AllowEmpty {
		wrong("allow_empty", "belongs to mode batch; mode tail waits for files")
	}
	if s.Mode == modeBatch && s.Start == startEnd {
		wrong("start", "batch reads files from their beginning")
	}
	return errors.Join(errs...)
}

// BusyFiles returns how many descriptors a source opens at the same time beside
// MaxOpenFiles: its readers, those who verify texts, the scan, and a file that is
// looked at.
func (s *Settings) BusyFiles() int { return max(1, s.Readers) + s.verifiers() + 2 }

// verifiers returns how many goroutines compare texts.
func (s *Settings) verifiers() int { return max(1, s.Readers/2) }

// compressLimits returns limits as package compress has them.
func compressLimits(l field.Limits) compress.Limits {
	return compress.Limits{MaxRatio: l.MaxRatio, MaxBytes: int64(l.MaxDecompressed), MaxWindow: int64(l.MaxWindow)}
}
