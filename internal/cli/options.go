package cli

import (
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/charset"
	"github.com/urlfold/urlfold/internal/recordconf"
	"github.com/urlfold/urlfold/internal/suggest"
	"github.com/urlfold/urlfold/sources/file"
)

// options is the flags of the one-shot as they were typed. Their names are a
// contract.
type options struct {
	formats []record.Format // besides the built-in ones

	// Input.
	format, dialect     string
	target              string
	urlField, baseField string
	base                string

	// Normalization.
	profile, key, standard       string
	rules                        []string
	queryEncoding                string
	hash, hmacKeyFile, keyFormat string
	repairs, secrets             []string
	params                       []string

	// Output.
	render           string
	extend           []string
	fields           []string
	output, compress string
	outputDir        string
	force            bool
	rejects, report  string
	redact           bool

	// Limits.
	maxRecord, maxURL string
	maxDecompressed   string
	maxRatio          int64
	maxWindow         string

	// The run.
	jobs       int
	unordered  bool
	failOn     string
	onDamage   string
	quiet      bool
	noProgress bool
	logLevel   string
}

// The groups of flags, in the order of the help.
var flagGroups = []string{"Input", "Normalization", "Output", "Limits", "Run"}

const groupKey = "group"

// groupOf returns the group of a flag. What cobra adds belongs to the run.
func groupOf(f *pflag.Flag) string {
	if g := f.Annotations[groupKey]; len(g) > 0 {
		return g[0]
	}
	return flagGroups[len(flagGroups)-1]
}

// autoCompress goes by the extension of the output.
const autoCompress = "auto"

// The names that some flags take.
var (
	renderNames   = recordconf.Renders()
	targetNames   = recordconf.Targets()
	hashNames     = recordconf.Hashes()
	keyFormNames  = recordconf.KeyFormats()
	standardNames = recordconf.Standards()
	failOnNames   = []string{"never", "damage", "rejects", "flags"}
	compressNames = []string{autoCompress, "none", "gzip", "zstd"}
	logLevelNames = []string{"debug", "info", "warn", "error"}
	dialectNames  = record.DialectNames()
)

// register adds the flags to cmd.
func (o *options) register(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	group := flagGroups[0]
	in := func(name string, add func(f *pflag.FlagSet)) {
		set := pflag.NewFlagSet(name, pflag.ContinueOnError)
		set.SortFlags = false
		add(set)
		set.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{groupKey: {group}} })
		cmd.Flags().AddFlagSet(set)
	}
	for i, add := range []func(*pflag.FlagSet){o.inputFlags, o.codecFlags, o.outputFlags, o.limitFlags, o.runFlags} {
		group = flagGroups[i]
		in(group, add)
	}
	for flag, names := range map[string][]string{
		"format": formatNames(o.formats), "dialect": dialectNames, "target": targetNames, "profile": config.ProfileNames(),
		"key": levelNames(), "standard": standardNames, "hash": hashNames, "render": renderNames,
		"query-encoding": charset.Names(), "rule": signedRuleNames(), "key-format": keyFormNames, "repair": record.RepairNames(),
		"compress": compressNames, "fail-on": failOnNames, "on-damage": file.OnDamageNames(), "log-level": logLevelNames,
	} {
		completeFrom(cmd, flag, names)
	}
}

// formatNames returns the names of all formats: the built-in ones, and more.
func formatNames(more []record.Format) []string {
	names := record.Formats()
	for _, f := range more {
		names = append(names, f.Name())
	}
	return names
}

func (o *options) inputFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.format, "format", "f", "", "the `format`: "+strings.Join(formatNames(o.formats), ", ")+", or the text of an nginx log_format or Apache LogFormat. Default: detected for each input from its first records")
	f.StringVar(&o.dialect, "dialect", "", "the `name` of how the log escapes: "+strings.Join(dialectNames, ", ")+". Default: what the format says")
	f.StringVar(&o.target, "target", targetNames[0], "which `URLs` of an access log: "+strings.Join(targetNames, ", ")+" (those that the format has)")
	f.StringVar(&o.urlField, "url-field", "", "where the URL is: a `path` such as request.uri (jsonl), a column's name or number (csv, tsv)")
	f.StringVar(&o.baseField, "base-field", "", "where the base is that the URL is resolved against, as a `path` or column")
	f.StringVar(&o.base, "base", "", "one base `URL` for all relative URLs; https://{host}/ takes the host from a field of the record")
}

func (o *options) codecFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.profile, "profile", "p", defaultProfile, "what to change: the `name` of a profile, see 'urlfold profiles', or a YAML file")
	f.StringSliceVar(&o.rules, "rule", nil, "`rules` to add to the profile or to remove from it: +rfc-clean,-frag-drop. They are "+strings.Join(ruleNames(), ", "))
	f.StringVarP(&o.key, "key", "k", "", "the `level` of keys: "+strings.Join(levelNames(), ", ")+". Default: the profile's")
	f.StringVar(&o.standard, "standard", "", "the `standard` that keys are computed by: "+strings.Join(standardNames, ", ")+". Default: the profile's")
	f.StringVar(&o.queryEncoding, "query-encoding", "utf-8", "the `label` of the encoding that browsers would write queries in, such as windows-1252, shift_jis, gbk")
	f.StringVar(&o.hash, "hash", hashNames[0], "the `name` of the hash of keys: "+strings.Join(hashNames, ", "))
	f.StringVar(&o.hmacKeyFile, "hmac-key-file", "", "the `file` that holds the key of hmac-sha256, as bytes")
	f.StringVar(&o.keyFormat, "key-format", keyFormNames[0], "how keys are `written`: "+strings.Join(keyFormNames, ", "))
	f.StringSliceVar(&o.repairs, "repair", nil, "defects to `repair` where no standard asks for it: "+strings.Join(record.RepairNames(), ", "))
	f.StringArrayVar(&o.params, "param", nil, "how a parameter is written, for --fields params, as `KEY=VALUE` pairs of OpenAPI with commas between them: name=color,in=query,style=pipeDelimited,explode=false,type=array; name=id,in=path,path=/users/{id}. Repeat the flag for more of them")
	f.StringSliceVar(&o.secrets, "secret", nil, "`names` of parameters whose values become ***, passwords with them")
}

func (o *options) outputFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.render, "render", "r", renderNames[0], "the `form` of the output: rewrite (the record, with only its URL bytes replaced), jsonl, tsv, urls, keys, extend (the record, with --extend)")
	f.StringSliceVar(&o.fields, "fields", nil, "the `fields` of jsonl and tsv, in this order: "+strings.Join(record.FieldNames(), ", "))
	f.StringSliceVar(&o.extend, "extend", nil, "`NAME=FIELD`: add these fields to records of jsonl, csv and tsv, under names of yours, and change nothing else")
	f.StringVarP(&o.output, "output", "o", "", "write to this `file`: to FILE.part, which is renamed when it is whole. Default: stdout")
	f.StringVar(&o.outputDir, "output-dir", "", "write an output for each input below this `directory`, under the path that the input has below its folder or glob, each renamed when it is whole")
	f.BoolVar(&o.force, "force", false, "replace outputs that exist. Default: refuse them")
	f.StringVar(&o.compress, "compress", autoCompress, "the `method` to compress the output by: "+strings.Join(compressNames, ", ")+". auto goes by the name: .gz, .zst; with --output-dir, outputs of inputs that are compressed otherwise become .zst")
	f.StringVar(&o.rejects, "rejects", "", "write records that cannot be parsed to this `file`, as JSON lines. Default: they pass through")
	f.StringVar(&o.report, "report", "", "write a JSON report to this `file`, - for stdout. An existing report is replaced")
	f.BoolVar(&o.redact, "redact", false, "write *** for passwords in URLs")
}

func (o *options) limitFlags(f *pflag.FlagSet) {
	f.StringVar(&o.maxRecord, "max-record", "1MiB", "a record longer than this `size` passes through unread")
	f.StringVar(&o.maxURL, "max-url", "", "a URL longer than this `size` is a reject. Default: the profile's, or 64KiB")
	f.StringVar(&o.maxDecompressed, "max-decompressed", "0", "stop reading a compressed file after this `size`; 0: no limit")
	f.Int64Var(&o.maxRatio, "max-ratio", 1000, "stop reading a compressed file that expands more than this many `times`; -1: no limit")
	f.StringVar(&o.maxWindow, "max-window", "128MiB", "refuse zstd windows and xz dictionaries larger than this `size`")
}

func (o *options) runFlags(f *pflag.FlagSet) {
	f.IntVarP(&o.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "how many `workers`")
	f.BoolVar(&o.unordered, "unordered", false, "write as results come, not in the order of the input")
	f.StringVar(&o.onDamage, "on-damage", file.OnDamageNames()[0], "what becomes of the records of a damaged archive, as a `word`: "+strings.Join(file.OnDamageNames(), ", ")+". quarantine writes only records that a checksum verifies")
	f.StringVar(&o.failOn, "fail-on", "damage", "the `cause` to exit with 4 for: never, damage (of archives), rejects (or damage), flags (any but relative, or one of these)")
	f.BoolVar(&o.quiet, "quiet", false, "no summary and no progress bar")
	f.BoolVar(&o.noProgress, "no-progress", false, "no progress bar")
	f.StringVar(&o.logLevel, "log-level", "warn", "the least `level` to log on stderr: "+strings.Join(logLevelNames, ", "))
}

// levelNames returns the names of the key levels.
func levelNames() []string { return recordconf.Levels() }

// findLevel returns the level of that name, or the profile's if there is none.
func findLevel(name string, p codec.Profile) (codec.Level, error) {
	if name == "" {
		return p.Key, nil
	}
	i, err := suggest.Index("key level", levelNames(), name)
	return codec.Level(i), err
}
