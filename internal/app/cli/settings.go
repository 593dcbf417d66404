package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/table"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// settings holds the validated and resolved options of a one-shot.
type settings struct {
	paths    []string
	record   record.Config // an empty Format means: detect it
	share    share
	logLevel slog.Level
	*options

	objects        *objects.Store // nil: no path names objects
	resumed        *resumption    // set by prepare; nil without --resume
	exact          bool           // see file.Config.Exact
	sample         *file.Sample   // nil without --sample
	log            *slog.Logger   // set by prepare
	tables         *tables
	copies         bool       // records keep the bytes that are not part of a URL
	mayRewrite     bool       // --to is not given, and --output is named .parquet
	hosts          *hostTable // of -o with {vhost} or {site}; else nil
	rewritesTables bool       // the inputs are Parquet or Avro files, and so are the outputs
	renamed        []string   // lines of the summary about outputs whose content decides their names
}

// checkFailOn checks the values of --fail-on.
func (o *options) checkFailOn(values []string) error {
	conditions := o.conditions
	if conditions == nil {
		conditions = enumOf("fail-on")
	}
	for _, v := range values {
		if now := map[string]string{"never": "none", "rejects": "rejected"}[v]; now != "" {
			return fmt.Errorf("%q is now %q", v, now)
		}
		if v == "none" && len(values) > 1 {
			return errors.New(`"none" cannot be combined with a condition`)
		}
		if _, err := suggest.Index("condition", conditions, v); err != nil {
			return err
		}
	}
	return nil
}

// resolve validates the options and returns what they mean. Its error joins all
// errors in the options.
func (o *options) resolve(paths []string) (*settings, error) {
	s := &settings{paths: paths, options: o, tables: newTables(o.URLField, o.From)}
	var bad command.Mistakes
	for _, name := range []*string{&s.Output, &s.Rejects, &s.Report} {
		if slices.Contains(stdoutNames, *name) {
			*name = stdoutPath
		}
	}
	_ = s.logLevel.UnmarshalText([]byte(s.LogLevel)) // checkValues reports the error
	s.resolvePaths(&bad)
	s.checkValues(&bad)
	s.checkCompress(&bad)
	s.resolveLockStep()
	s.resolveParquet(&bad)
	s.resolveCodec(&bad)
	s.resolveRecord(&bad)
	s.checkCombinations(&bad)
	s.resolveUnique(&bad)
	s.resolveSort()
	s.resolveDivided()
	s.resolveShard(&bad)
	s.resolveObjects(&bad)
	s.checkFiles(&bad)
	s.resolveLimits(&bad)
	s.checkRecord(&bad)
	if err := bad.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// resolvePaths rejects URLs given in place of files. The error does not repeat
// the URL, which may contain a password.
func (s *settings) resolvePaths(bad *command.Mistakes) {
	for i, p := range s.paths {
		if _, err := os.Lstat(p); err != nil && strings.Contains(p, "://") && !objects.Is(p) {
			bad.Addf(fmt.Sprintf("argument %d", i+1), "expected a file, got a URL (did you mean 'urlfold explain URL'?)")
		}
	}
	for _, pattern := range s.Exclude {
		if !doublestar.ValidatePattern(pattern) {
			bad.Addf("--exclude", "invalid glob %q", pattern)
		}
	}
}

// resolveCodec creates the normalizer.
func (s *settings) resolveCodec(bad *command.Mistakes) {
	p, policy, err := findProfile(s.Profile)
	bad.Add("--profile", err)
	if err == nil && s.list != "" {
		changed, listErr := config.WithList(policy, s.list)
		bad.Add(s.listFlag, listErr)
		if listErr == nil {
			policy = changed
		}
	}
	p, rulesErr := changeRules(p, s.Changes)
	bad.Add("--rule", rulesErr)
	if s.MaxURL > 0 {
		p.MaxLen = int(s.MaxURL)
	}
	key, keyErr := s.hmacKey()
	bad.Add("--hmac-key-file", keyErr)
	if keyErr != nil {
		key = make([]byte, codec.MinHMACKey) // replaces the unreadable key
	}
	if err != nil || rulesErr != nil {
		p = codec.Profile{}
	}
	s.record.Normalizer, err = s.newNormalizer(p, policy, key)
	bad.Add("", err)
}

// newNormalizer returns the normalizer for a profile, or nil if the profile or the
// options are invalid. The error joins one error, with its option, for each invalid setting.
func (o *options) newNormalizer(p codec.Profile, policy *codec.Policy, key []byte) (*codec.Normalizer, error) {
	n, err := recordconf.NewNormalizer(&o.Codec, p, policy, key)
	for _, e := range errlist.Flatten(err) {
		var c *record.ConfigError
		if errors.As(e, &c) && c.Field == "Profile" && len(o.Changes) > 0 {
			return nil, fmt.Errorf("--rule: %w", err) // the profile is consistent without the changes of --rule
		}
	}
	return n, flagNames(err)
}

// resolveRecord builds the configuration of record jobs.
func (s *settings) resolveRecord(bad *command.Mistakes) {
	for _, name := range s.Secrets {
		switch {
		case name == "":
			bad.Addf("--secret", "empty parameter name")
		case strings.Contains(name, ","):
			bad.Addf("--secret", "%q is not a name: repeat --secret for each name", name)
		}
	}
	if s.Delimiter != "" && s.From == "" {
		s.From = "csv"
	}
	s.takeNote(bad)
	s.Format.URL = config.URLParts(s.urlParts(bad))
	s.Format.Map = s.mapping(bad)
	s.record.Formats = append(s.formats[:len(s.formats):len(s.formats)], table.Format(table.Parquet), table.Format(table.Avro), table.Format(table.Arrow))
	s.record.Fields, s.record.Extend, s.record.Params = s.Fields, s.extensions(bad), s.styles(bad)
	if s.Rejects != "" {
		s.record.OnRejected = record.DispositionDead
	}
	bad.Add("", flagNames(recordconf.Fill(&s.record, &s.Format, &s.Codec, s.Where, nil)))
}

// hides reports whether --redact or --secret hides anything.
func (s *settings) hides() bool {
	_, hides, _ := redact.Parse(s.Redact) // checkRecord reports the error
	return hides || len(s.Secrets) > 0
}

// extensions parses the values of --extend.
func (s *settings) extensions(bad *command.Mistakes) (list []record.Extension) {
	for _, text := range s.Extend {
		name, field, ok := strings.Cut(text, "=")
		if !ok {
			bad.Addf("--extend", "missing '=' in %q: want NAME=FIELD, such as url_norm=norm", text)
			return nil
		}
		list = append(list, record.Extension{Name: name, Field: field})
	}
	return list
}

// urlParts parses the values of --url.
func (s *settings) urlParts(bad *command.Mistakes) (u record.URLParts) {
	for _, text := range s.URLs {
		for pair := range strings.SplitSeq(text, ",") {
			part, path, ok := strings.Cut(pair, "=")
			if !ok {
				bad.Addf("--url", "missing '=' in %q: want PART=PATH pairs, such as host=request.host,path=request.uri", pair)
				continue
			}
			bad.Add("--url", u.Add(part, path))
		}
	}
	return u
}

// mapping parses the values of --map.
func (s *settings) mapping(bad *command.Mistakes) map[string]string {
	m := map[string]string{}
	for _, pair := range s.Mapped {
		field, name, ok := strings.Cut(strings.TrimSpace(pair), "=")
		switch _, twice := m[field]; {
		case !ok:
			bad.Addf("--map", "missing '=' in %q: want FIELD=NAME pairs, such as status=sc,client=src.ip", pair)
		case twice:
			bad.Addf("--map", "duplicate field %q", field)
		default:
			m[field] = name
		}
	}
	return m
}

// hmacKey returns the contents of --hmac-key-file, or nil without the option.
func (s *settings) hmacKey() ([]byte, error) {
	if s.HMACKeyFile == "" {
		return nil, nil
	}
	key, err := os.ReadFile(s.HMACKeyFile)
	if err != nil {
		return nil, err
	}
	// Editors and echo append a line feed that is not part of the key.
	return bytes.TrimSuffix(key, []byte("\n")), nil
}

// checkFiles rejects output files that share a name or cannot be written.
func (s *settings) checkFiles(bad *command.Mistakes) {
	if s.OutputDir != "" && !objects.Is(s.OutputDir) {
		bad.Add("--output-dir", disk.Creatable(s.OutputDir))
	}
	seen := map[string]string{}
	for _, f := range []struct{ flag, name string }{{"--output", s.Output}, {"--dead-letter", s.Rejects}, {"--summary", s.Report}} {
		if f.name == "" || f.name == stdoutPath || f.flag == "--dead-letter" && slices.Contains(stderrNames, f.name) {
			continue
		}
		if other := seen[f.name]; other != "" {
			bad.Addf(f.flag, "same file as %s", other)
		}
		seen[f.name] = f.flag
		bad.Add(f.flag, s.checkFile(f.flag, f.name))
	}
}

// checkFile returns an error if it is already known that the file cannot be
// written. It writes nothing.
func (s *settings) checkFile(flag, name string) error {
	switch {
	case objects.Is(name):
		return s.checkObject(flag, name)
	case s.divided() && name == s.Output:
		fixed, _, _ := strings.Cut(name, "{")
		return disk.Creatable(filepath.Dir(fixed))
	}
	fi, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Unlike --output-dir, these options do not create directories.
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
	case fi.Mode().IsRegular() && !s.Force && flag != "--summary":
		return fmt.Errorf("%s: %w; use --force to overwrite it", name, sink.ErrExists)
	}
	return nil
}

// isInput reports whether fi is one of the files named as inputs.
func (s *settings) isInput(fi os.FileInfo) bool {
	return slices.ContainsFunc(s.paths, func(path string) bool {
		in, err := os.Stat(file.OnDisk(path))
		return err == nil && os.SameFile(in, fi)
	})
}

// resolveLimits checks the limits and the options of the run. It also reports
// invalid sizes, because Set keeps these errors: see sizeValue.
func (s *settings) resolveLimits(bad *command.Mistakes) {
	for _, flag := range slices.Sorted(maps.Keys(s.late)) {
		bad.Add("--"+flag, s.late[flag])
	}
	if s.MaxRatio == 0 || s.MaxRatio < -1 {
		bad.Addf("--max-ratio", "must be greater than 0, or -1 for no limit")
	}
	s.tables.limits.MaxPage, s.tables.limits.MaxRatio = int64(s.MaxWindow), s.MaxRatio
	bad.Add("--fail-on", s.checkFailOn(s.FailOn))
	bad.Within("--workers", s.Jobs, maxJobs)
	if s.Limit < 0 {
		bad.Addf("--limit", "must be greater than 0")
	}
	if s.Sample != "" {
		var err error
		s.sample, err = parseSample(s.Sample)
		bad.Add("--sample", err)
	}
}

// maxSample is the greatest size of a sample.
const maxSample = 10_000_000

// parseSample parses the value of --sample.
func parseSample(text string) (*file.Sample, error) {
	size, seed, has := strings.Cut(text, ":")
	n, err := strconv.Atoi(size)
	k, seedErr := int64(0), error(nil)
	if has {
		k, seedErr = strconv.ParseInt(seed, 10, 64)
	}
	if err != nil || seedErr != nil || n < 1 || n > maxSample {
		return nil, fmt.Errorf("must be N or N:SEED with N from 1 to %d, such as 1000:7", maxSample)
	}
	return &file.Sample{Size: n, Seed: k}, nil
}

const maxJobs = 1024

// readsFiles reports whether the --on-damage policy reads each input twice.
func (s *settings) readsFiles() bool {
	c := file.Config{OnDamage: s.OnDamage}
	return c.NeedsFiles()
}

// checkRecord lets package record validate its part of the settings. Stand-ins
// replace the settings whose options are wrong (they have been reported) and
// settings that depend on a format still to be detected.
func (s *settings) checkRecord(bad *command.Mistakes) {
	probe := s.record
	if probe.Normalizer == nil {
		probe.Normalizer = recordconf.Probe()
	}
	if probe.Format == "" {
		probe.Format, probe.Dialect, probe.Target, probe.URLField, probe.BaseField, probe.URL = "jsonl", "", 0, "url", "", record.URLParts{}
		if probe.Delimiter+probe.Quote+probe.Escape != "" || probe.NoHeader {
			probe.Format, probe.URLField = "csv", "1"
		}
	}
	// Leave these two out, because resolveRecord has reported their errors.
	if probe.Render != record.RenderExtend {
		probe.Extend = nil
	} else if len(probe.Extend) == 0 && probe.Note == (record.Note{}) {
		probe.Render = record.RenderRewrite
	}
	_, err := record.New(probe)
	bad.Add("", flagNames(err))
}

// unordered reports whether the order of the output may differ from the order of
// the inputs.
func (s *settings) unordered() bool { return s.Order != "input" }
