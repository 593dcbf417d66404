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

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/errlist"
	"github.com/urlfold/urlfold/internal/recordconf"
	"github.com/urlfold/urlfold/internal/redact"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/table"
	"github.com/urlfold/urlfold/internal/suggest"
	"github.com/urlfold/urlfold/internal/terminal"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// settings holds the validated and resolved flags of a one-shot.
type settings struct {
	paths     []string
	record    record.Config // an empty Format means: detect it
	limits    field.Limits
	maxRecord int
	hides     bool // by --redact or --secret
	share     share
	logLevel  slog.Level
	*options

	log            *slog.Logger // set by prepare
	tables         *tables
	mayRewrite     bool // --render is not given, and --output is named .parquet
	rewritesTables bool // the inputs are Parquet or Avro files, and so are the outputs
}

// checkFailOn checks the values of --fail-on.
func checkFailOn(values []string) error {
	for _, v := range values {
		if now := map[string]string{"never": "none", "rejects": "rejected"}[v]; now != "" {
			return fmt.Errorf("%q is now %q", v, now)
		}
		if v == "none" && len(values) > 1 {
			return errors.New("none cannot be combined with other conditions")
		}
		if _, err := suggest.Index("condition", failOnNames, v); err != nil {
			return err
		}
	}
	return nil
}

// resolve validates the flags and returns what they mean. Its error joins all
// errors in the flags.
func (o *options) resolve(paths []string) (*settings, error) {
	s := &settings{paths: paths, options: o, tables: newTables(o.urlField, o.format)}
	var bad mistakes
	s.resolvePaths(&bad)
	s.resolveLockStep(&bad)
	s.resolveParquet(&bad)
	s.resolveCodec(&bad)
	s.resolveRecord(&bad)
	s.resolveUnique(&bad)
	s.resolveShard(&bad)
	s.resolveOutput(&bad)
	s.resolveLimits(&bad)
	s.resolveRun(&bad)
	s.checkRecord(&bad)
	if err := bad.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// resolvePaths rejects URLs given in place of files. The error does not repeat
// the URL, which may contain a password.
func (s *settings) resolvePaths(bad *mistakes) {
	for i, p := range s.paths {
		if _, err := os.Lstat(p); err != nil && strings.Contains(p, "://") {
			bad.add(fmt.Sprintf("argument %d", i+1), errors.New("expected a file, got a URL (did you mean 'urlfold explain URL'?)"))
		}
	}
	for _, pattern := range s.exclude {
		if !doublestar.ValidatePattern(pattern) {
			bad.add("--exclude", fmt.Errorf("invalid glob %q", pattern))
		}
	}
}

// resolveCodec creates the normalizer.
func (s *settings) resolveCodec(bad *mistakes) {
	p, policy, err := findProfile(s.profile)
	bad.add("--profile", err)
	if err == nil && s.list != "" {
		changed, listErr := config.WithList(policy, s.list)
		bad.add(s.listFlag, listErr)
		if listErr == nil {
			policy = changed
		}
	}
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
		key = make([]byte, codec.MinHMACKey) // stands in for the unreadable key
	}
	if err != nil || rulesErr != nil {
		p = codec.Profile{}
	}
	r := recordconf.Normalizer{Profile: p, Policy: policy, Standard: s.standard, Hash: s.hash, HMACKey: key, QueryEncoding: s.queryEncoding}
	s.record.Normalizer, err = newNormalizer(&r, s.rules)
	bad.add("", err)
}

// newNormalizer returns the normalizer for r, or nil if r or its profile is
// invalid. The error joins one error, with its flag, for each invalid setting.
func newNormalizer(r *recordconf.Normalizer, rules []string) (*codec.Normalizer, error) {
	n, err := r.New()
	if errorIn(err, "Profile") && len(rules) > 0 {
		return nil, fmt.Errorf("--rule: %w", err) // the profile alone is consistent
	}
	return n, flagNames(err)
}

// resolveRecord builds the configuration of record jobs.
func (s *settings) resolveRecord(bad *mistakes) {
	for _, name := range s.secrets {
		if name == "" {
			bad.add("--secret", errors.New("empty parameter name"))
		}
	}
	if s.delimiter != "" && s.format == "" {
		s.format = "csv"
	}
	s.takeNote(bad)
	r := recordconf.Settings{
		Delimiter: s.delimiter, Quote: s.quote, Escape: s.escape, NoHeader: s.noHeader,
		Format: s.format, Formats: append(s.formats[:len(s.formats):len(s.formats)], table.Format(table.Parquet), table.Format(table.Avro)), Dialect: s.dialect, Target: s.target,
		URLField: s.urlField, URL: s.urlParts(bad), BaseField: s.baseField, Base: s.base,
		Key: s.key, KeyFormat: s.keyFormat, Render: s.render, Fields: s.fields, Extend: s.extensions(bad),
		Repairs: s.repairs, Secrets: s.secrets, Params: s.styles(bad), Timezone: s.timezone, Year: s.year, Where: s.where,
		Redact: s.redact, Divert: s.rejects != "", Normalizer: s.record.Normalizer,
	}
	var err error
	s.record, err = r.Config()
	bad.add("", flagNames(err))
	_, hides, _ := redact.Parse(s.redact) // checkRecord reports the error
	s.hides = hides || len(s.secrets) > 0
	wrongRender := errorIn(err, "Render")
	switch render := s.record.Render; {
	case wrongRender:
	case len(s.fields) > 0 && render != record.RenderJSONL && render != record.RenderTSV && render != record.RenderParquet && render != record.RenderCSV:
		bad.add("--fields", errors.New("requires --render jsonl, tsv, csv or parquet"))
	case render == record.RenderExtend && len(s.extend) == 0 && s.uniqueNote() == (record.Note{}):
		bad.add("--render", errors.New("extend requires --extend NAME=FIELD, such as --extend url_norm=norm"))
	case render != record.RenderExtend && len(s.extend) > 0:
		bad.add("--extend", fmt.Errorf("cannot be combined with --render %s, which does not write the records; use --render extend", render))
	}
}

// errorIn reports whether err contains an error in the given field of
// record.Config.
func errorIn(err error, field string) bool {
	return slices.ContainsFunc(errlist.Flatten(err), func(err error) bool {
		var c *record.ConfigError
		return errors.As(err, &c) && c.Field == field
	})
}

// extensions parses the values of --extend.
func (s *settings) extensions(bad *mistakes) (list []record.Extension) {
	for _, text := range s.extend {
		name, field, ok := strings.Cut(text, "=")
		if !ok {
			bad.add("--extend", fmt.Errorf("missing '=' in %q: want NAME=FIELD, such as url_norm=norm", text))
			return nil
		}
		list = append(list, record.Extension{Name: name, Field: field})
	}
	return list
}

// urlParts parses the values of --url.
func (s *settings) urlParts(bad *mistakes) (u record.URLParts) {
	for _, text := range s.url {
		for pair := range strings.SplitSeq(text, ",") {
			part, path, ok := strings.Cut(pair, "=")
			if !ok {
				bad.add("--url", fmt.Errorf("missing '=' in %q: want PART=PATH pairs, such as host=request.host,path=request.uri", pair))
				continue
			}
			bad.add("--url", u.Add(part, path))
		}
	}
	return u
}

// hmacKey returns the contents of --hmac-key-file, or nil without the flag.
func (s *settings) hmacKey() ([]byte, error) {
	if s.hmacKeyFile == "" {
		return nil, nil
	}
	key, err := os.ReadFile(s.hmacKeyFile)
	if err != nil {
		return nil, err
	}
	// Editors and echo append a line feed that is not part of the key.
	return bytes.TrimSuffix(key, []byte("\n")), nil
}

func (s *settings) resolveOutput(bad *mistakes) {
	_, err := suggest.Index("value", headerNames, s.header)
	bad.add("--header", err)
	if err == nil && s.header == headerNames[1] && s.record.Render != record.RenderTSV && s.record.Render != record.RenderCSV {
		bad.add("--header", errors.New("requires --render tsv or csv"))
	}
	_, err = suggest.Index("compression", compressNames, s.compress)
	bad.add("--compress", err)
	if s.compress == autoCompress && compress.Misleading(s.output) {
		bad.add("--output", errors.New("cannot write the compressed format of this extension: use .gz or .zst, or --compress none"))
	}
	s.checkFiles(bad)
}

// checkFiles rejects output files that share a name or cannot be written.
func (s *settings) checkFiles(bad *mistakes) {
	for _, name := range []*string{&s.output, &s.rejects, &s.report} {
		if slices.Contains(stdoutNames, *name) {
			*name = stdoutPath
		}
	}
	if s.outputDir != "" && s.output != "" {
		bad.add("--output-dir", errors.New("cannot be combined with --output, which names one output for all inputs"))
	}
	if s.outputDir != "" && s.unordered {
		bad.add("--output-dir", errors.New("cannot be combined with --unordered: each output keeps the order of its input"))
	}
	if s.outputDir != "" {
		bad.add("--output-dir", disk.Creatable(s.outputDir))
	}
	toStdout := s.outputDir == "" && (s.output == "" || s.output == stdoutPath)
	if s.report == stdoutPath && toStdout {
		bad.add("--report", errors.New("stdout is already used for the records: write the report or the records to a file"))
	}
	if s.rejects == stdoutPath {
		bad.add("--rejects", errors.New("cannot be stdout, which is used for the records: name a file"))
	}
	seen := map[string]string{}
	for _, f := range []struct{ flag, name string }{{"--output", s.output}, {"--rejects", s.rejects}, {"--report", s.report}} {
		if f.name == "" || f.name == stdoutPath || f.flag == "--rejects" && slices.Contains(stderrNames, f.name) {
			continue
		}
		if other := seen[f.name]; other != "" {
			bad.add(f.flag, fmt.Errorf("same file as %s", other))
		}
		seen[f.name] = f.flag
		bad.add(f.flag, s.checkFile(f.flag, f.name))
	}
}

// checkFile returns an error if it is already known that the file cannot be
// written. It writes nothing.
func (s *settings) checkFile(flag, name string) error {
	fi, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Unlike --output-dir, these flags do not create directories.
		if _, err := os.Stat(filepath.Dir(name)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: directory does not exist", name)
		}
		return disk.Creatable(filepath.Dir(name))
	case err != nil:
		return err
	case fi.IsDir():
		return fmt.Errorf("%s: is a directory", name)
	case s.isInput(fi):
		return fmt.Errorf("%s: %w", name, sink.ErrIsInput)
	case fi.Mode().IsRegular() && !s.force && flag != "--report":
		return fmt.Errorf("%s: %w; use --force to overwrite it", name, sink.ErrExists)
	}
	return nil
}

// isInput reports whether fi is one of the files named as inputs.
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
	s.record.MaxQuoted, err = limitOf(s.options.maxQuoted, maxRecordLimit)
	bad.add("--max-quoted", err)
	if s.options.maxExpansion != "" {
		s.record.MaxExpansion, err = limitOf(s.options.maxExpansion, maxRecordLimit*64)
		bad.add("--max-expansion", err)
	}
	s.limits.MaxDecompressed, err = field.ParseSize(s.maxDecompressed)
	bad.add("--max-decompressed", err)
	s.limits.MaxRatio = s.maxRatio
	if s.maxRatio == 0 || s.maxRatio < -1 {
		bad.add("--max-ratio", errors.New("must be greater than 0, or -1 for no limit"))
	}
	window, err := limitOf(s.maxWindow, 1<<40)
	bad.add("--max-window", err)
	s.limits.MaxWindow = field.Size(window)
	s.tables.limits.MaxPage, s.tables.limits.MaxRatio = int64(window), s.maxRatio
}

// maxRecordLimit is the largest --max-record, in bytes. Arenas have 32-bit
// offsets, and the output for a record may be longer than the record.
const maxRecordLimit = 256 << 20

// limitOf parses a size from 1 to limit bytes.
func limitOf(text string, limit field.Size) (int, error) {
	n, err := field.ParseSize(text)
	switch {
	case err != nil:
		return 0, err
	case n < 1:
		return 0, errors.New("must be greater than 0")
	case n > limit:
		return 0, fmt.Errorf("must be at most %s", terminal.FormatSize(int64(limit)))
	}
	return int(n), nil
}

func (s *settings) resolveRun(bad *mistakes) {
	bad.add("--fail-on", checkFailOn(s.failOn))
	_, err := suggest.Index("policy", file.OnDamageNames(), s.onDamage)
	bad.add("--on-damage", err)
	_, err = suggest.Index("decoder", file.InflateNames(), s.inflate)
	bad.add("--inflate", err)
	if s.readsFiles() && (len(s.paths) == 0 || slices.Contains(s.paths, stdinPath)) {
		bad.add("--on-damage", fmt.Errorf("%s reads each input twice, which is not possible with stdin: name the input files", s.onDamage))
	}
	i, err := suggest.Index("level", logLevelNames, s.options.logLevel)
	bad.add("--log-level", err)
	s.logLevel = []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}[i]
	if s.jobs < 1 || s.jobs > maxJobs {
		bad.add("--jobs", fmt.Errorf("must be between 1 and %d", maxJobs))
	}
}

const maxJobs = 1024

// readsFiles reports whether the --on-damage policy reads each input twice.
func (s *settings) readsFiles() bool {
	c := file.Config{OnDamage: s.onDamage}
	return c.NeedsFiles()
}

// checkRecord lets package record validate its part of the settings. Stand-ins
// replace the settings whose flags are wrong (they have been reported) and
// those that depend on a format still to be detected.
func (s *settings) checkRecord(bad *mistakes) {
	s.record.MaxRecord = s.maxRecord
	probe := s.record
	if probe.Normalizer == nil {
		probe.Normalizer = recordconf.Probe()
	}
	if probe.Format == "" {
		probe.Format, probe.Dialect, probe.Target, probe.URLField, probe.BaseField, probe.URL = "jsonl", "", 0, "url", "", record.URLParts{}
	}
	// resolveRecord has reported errors in these two.
	if probe.Render != record.RenderExtend {
		probe.Extend = nil
	} else if len(probe.Extend) == 0 && probe.Note == (record.Note{}) {
		probe.Render = record.RenderRewrite
	}
	_, err := record.New(probe)
	bad.add("", flagNames(err))
}
