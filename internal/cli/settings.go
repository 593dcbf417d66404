package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/errlist"
	"github.com/urlfold/urlfold/internal/recordconf"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/suggest"
	"github.com/urlfold/urlfold/internal/terminal"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// settings is what the flags of a one-shot mean. All of them are right.
type settings struct {
	paths     []string
	record    record.Config // without a format, it is to be found
	limits    field.Limits
	maxRecord int
	failOn    failOn
	logLevel  slog.Level
	*options
}

// failOn says what makes a run that came to its end fail.
type failOn uint8

// Each value includes those before it.
const (
	failNever failOn = iota
	failDamage
	failRejects
	failFlags
)

// resolve finds out what the flags mean. The error tells all mistakes.
func (o *options) resolve(paths []string) (*settings, error) {
	s := &settings{paths: paths, options: o}
	var bad mistakes
	s.resolvePaths(&bad)
	s.resolveCodec(&bad)
	s.resolveRecord(&bad)
	s.resolveOutput(&bad)
	s.resolveLimits(&bad)
	s.resolveRun(&bad)
	s.checkRecord(&bad)
	if err := bad.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// resolvePaths refuses a URL in place of a file. It is not repeated in the
// error, because it may hold a password.
func (s *settings) resolvePaths(bad *mistakes) {
	for i, p := range s.paths {
		if _, err := os.Lstat(p); err != nil && strings.Contains(p, "://") {
			bad.add(fmt.Sprintf("argument %d", i+1), errors.New("this is a URL, and not a file; did you mean 'urlfold explain URL'?"))
		}
	}
}

// resolveCodec makes the normalizer.
func (s *settings) resolveCodec(bad *mistakes) {
	p, policy, err := findProfile(s.profile)
	bad.add("--profile", err)
	p, rulesErr := changeRules(p, s.rules)
	bad.add("--rule", rulesErr)
	var sizeErr error
	if s.maxURL != "" {
		p.MaxLen, sizeErr = limitOf(s.maxURL, codec.MaxLen)
		bad.add("--max-url", sizeErr)
	}
	key, keyErr := s.hmacKey()
	bad.add("--hmac-key-file", keyErr)
	if keyErr != nil {
		key = make([]byte, codec.MinHMACKey) // a key was given
	}
	if err != nil || rulesErr != nil {
		p = codec.Profile{}
	}
	r := recordconf.Normalizer{Profile: p, Policy: policy, Standard: s.standard, Hash: s.hash, HMACKey: key, QueryEncoding: s.queryEncoding}
	s.record.Normalizer, err = newNormalizer(&r, s.rules)
	bad.add("", err)
}

// newNormalizer returns the normalizer of these settings, nil if they or the profile
// have mistakes. The error joins one for each mistake in a setting, with its flag.
func newNormalizer(r *recordconf.Normalizer, rules []string) (*codec.Normalizer, error) {
	n, err := r.New()
	if errorIn(err, "Profile") && len(rules) > 0 {
		return nil, fmt.Errorf("--rule: %w", err) // without it the profile had no contradiction
	}
	return n, flagNames(err)
}

// resolveRecord makes the configuration of record jobs.
func (s *settings) resolveRecord(bad *mistakes) {
	for _, name := range s.secrets {
		if name == "" {
			bad.add("--secret", errors.New("the name of a parameter is empty"))
		}
	}
	r := recordconf.Settings{
		Format: s.format, Formats: s.formats, Dialect: s.dialect, Target: s.target,
		URLField: s.urlField, BaseField: s.baseField, Base: s.base,
		Key: s.key, KeyFormat: s.keyFormat, Render: s.render, Fields: s.fields, Extend: s.extensions(bad),
		Repairs: s.repairs, Secrets: s.secrets, Params: s.styles(bad),
		Redact: s.redact, Divert: s.rejects != "", Normalizer: s.record.Normalizer,
	}
	var err error
	s.record, err = r.Config()
	bad.add("", flagNames(err))
	wrongRender := errorIn(err, "Render")
	switch render := s.record.Render; {
	case wrongRender:
	case len(s.fields) > 0 && render != record.RenderJSONL && render != record.RenderTSV:
		bad.add("--fields", errors.New("fields belong to --render jsonl or tsv"))
	case render == record.RenderExtend && len(s.extend) == 0:
		bad.add("--render", errors.New("--extend says which fields are added, such as --extend url_norm=norm"))
	case render != record.RenderExtend && len(s.extend) > 0:
		bad.add("--extend", fmt.Errorf("fields are added to records: --render %s has none", render))
	}
}

// errorIn reports whether err has a mistake in a field of record.Config.
func errorIn(err error, field string) bool {
	return slices.ContainsFunc(errlist.Flatten(err), func(err error) bool {
		var c *record.ConfigError
		return errors.As(err, &c) && c.Field == field
	})
}

// extensions reads the fields that are added to records.
func (s *settings) extensions(bad *mistakes) (list []record.Extension) {
	for _, text := range s.extend {
		name, field, ok := strings.Cut(text, "=")
		if !ok {
			bad.add("--extend", fmt.Errorf("%q has no '=': what is added is NAME=FIELD, such as url_norm=norm", text))
			return nil
		}
		list = append(list, record.Extension{Name: name, Field: field})
	}
	return list
}

// hmacKey returns the key that is in the file, nil if there is no file.
func (s *settings) hmacKey() ([]byte, error) {
	if s.hmacKeyFile == "" {
		return nil, nil
	}
	key, err := os.ReadFile(s.hmacKeyFile)
	if err != nil {
		return nil, err
	}
	// Editors and echo end a file with a line feed that is not part of the key.
	return bytes.TrimSuffix(key, []byte("\n")), nil
}

func (s *settings) resolveOutput(bad *mistakes) {
	_, err := suggest.Index("compression", compressNames, s.compress)
	bad.add("--compress", err)
	if s.compress == autoCompress && compress.Misleading(s.output) {
		bad.add("--output", errors.New("the extension is of a compression that is not written: end it in .gz or .zst, or say --compress none"))
	}
	s.checkFiles(bad)
}

// checkFiles refuses one name for two files, and names that cannot be written.
func (s *settings) checkFiles(bad *mistakes) {
	for _, name := range []*string{&s.output, &s.rejects, &s.report} {
		if slices.Contains(stdoutNames, *name) {
			*name = stdoutPath
		}
	}
	if s.outputDir != "" && s.output != "" {
		bad.add("--output-dir", errors.New("--output names one output for all inputs: give one of the two"))
	}
	if s.outputDir != "" && s.unordered {
		bad.add("--output-dir", errors.New("every output has the order of its input: leave --unordered out"))
	}
	toStdout := s.outputDir == "" && (s.output == "" || s.output == stdoutPath)
	if s.report == stdoutPath && toStdout {
		bad.add("--report", errors.New("the records go to stdout already: write one of the two to a file"))
	}
	if s.rejects == stdoutPath {
		bad.add("--rejects", errors.New("rejects go to a file: stdout has the records"))
	}
	seen := map[string]string{}
	for _, f := range []struct{ flag, name string }{{"--output", s.output}, {"--rejects", s.rejects}, {"--report", s.report}} {
		if f.name == "" || f.name == stdoutPath || f.flag == "--rejects" && slices.Contains(stderrNames, f.name) {
			continue
		}
		if other := seen[f.name]; other != "" {
			bad.add(f.flag, fmt.Errorf("this is the file of %s already", other))
		}
		seen[f.name] = f.flag
		bad.add(f.flag, s.checkFile(f.flag, f.name))
	}
}

// checkFile returns why a file cannot be written, as far as that is known before
// the run. It writes nothing.
func (s *settings) checkFile(flag, name string) error {
	fi, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// No directory is made for one file.
		if _, err := os.Stat(filepath.Dir(name)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: the directory does not exist", name)
		}
		return disk.Creatable(filepath.Dir(name))
	case err != nil:
		return err
	case fi.IsDir():
		return fmt.Errorf("%s: is a directory", name)
	case s.isInput(fi):
		return fmt.Errorf("%s: %w", name, sink.ErrIsInput)
	case fi.Mode().IsRegular() && !s.force && flag != "--report":
		return fmt.Errorf("%s: %w; --force replaces it", name, sink.ErrExists)
	}
	return nil
}

// isInput reports whether fi is a file that is named as an input.
func (s *settings) isInput(fi os.FileInfo) bool {
	return slices.ContainsFunc(s.paths, func(path string) bool {
		in, err := os.Stat(path)
		return err == nil && os.SameFile(in, fi)
	})
}

func (s *settings) resolveLimits(bad *mistakes) {
	var err error
	s.maxRecord, err = limitOf(s.options.maxRecord, maxRecordLimit)
	bad.add("--max-record", err)
	s.limits.MaxDecompressed, err = field.ParseSize(s.maxDecompressed)
	bad.add("--max-decompressed", err)
	s.limits.MaxRatio = s.maxRatio
	if s.maxRatio == 0 || s.maxRatio < -1 {
		bad.add("--max-ratio", errors.New("a ratio is a number above 0, or -1 for no limit"))
	}
	window, err := limitOf(s.maxWindow, 1<<40)
	bad.add("--max-window", err)
	s.limits.MaxWindow = field.Size(window)
}

// maxRecordLimit is the longest record that may be asked for: arenas are
// addressed by 32 bits, and the output of a record may be longer than it.
const maxRecordLimit = 256 << 20

// limitOf reads a size that is at least 1 and at most limit.
func limitOf(text string, limit field.Size) (int, error) {
	n, err := field.ParseSize(text)
	switch {
	case err != nil:
		return 0, err
	case n < 1:
		return 0, errors.New("the size must be above 0")
	case n > limit:
		return 0, fmt.Errorf("the size is above %s", terminal.FormatSize(int64(limit)))
	}
	return int(n), nil
}

func (s *settings) resolveRun(bad *mistakes) {
	i, err := suggest.Index("cause", failOnNames, s.options.failOn)
	bad.add("--fail-on", err)
	s.failOn = failOn(i)
	_, err = suggest.Index("value", file.OnDamageNames(), s.onDamage)
	bad.add("--on-damage", err)
	if s.readsFiles() && (len(s.paths) == 0 || slices.Contains(s.paths, stdinPath)) {
		bad.add("--on-damage", fmt.Errorf("%s reads inputs twice, and stdin can be read once: name files", s.onDamage))
	}
	i, err = suggest.Index("level", logLevelNames, s.options.logLevel)
	bad.add("--log-level", err)
	s.logLevel = []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}[i]
	if s.jobs < 1 || s.jobs > maxJobs {
		bad.add("--jobs", fmt.Errorf("the number of workers must be from 1 to %d", maxJobs))
	}
}

const maxJobs = 1024

// readsFiles reports whether --on-damage needs inputs that can be read twice.
func (s *settings) readsFiles() bool {
	c := file.Config{OnDamage: s.onDamage}
	return c.NeedsFiles()
}

// checkRecord has package record look for mistakes in what is its own. What is
// missing only because another flag is wrong, or because the format is yet to be
// found, is none.
func (s *settings) checkRecord(bad *mistakes) {
	s.record.MaxRecord = s.maxRecord
	probe := s.record
	if probe.Normalizer == nil {
		probe.Normalizer = recordconf.Probe()
	}
	if probe.Format == "" {
		probe.Format, probe.Dialect, probe.Target, probe.URLField, probe.BaseField = "jsonl", "", 0, "url", ""
	}
	if probe.Render != record.RenderExtend || len(probe.Extend) == 0 {
		probe.Render, probe.Extend = record.RenderRewrite, nil // what is wrong with them was said
	}
	_, err := record.New(probe)
	bad.add("", flagNames(err))
}
