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

// options holds the flags of the one-shot as the user typed them. Scripts
// depend on the flag names.
type options struct {
	formats []record.Format // in addition to the built-in ones

	// Input.
	format, dialect     string
	target              string
	urlField, baseField string
	url                 []string
	base                string
	timezone            string
	year                int

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
	inflate           string

	// The run.
	jobs       int
	unordered  bool
	failOn     string
	onDamage   string
	quiet      bool
	noProgress bool
	logLevel   string
}

// flagGroups lists the groups of flags in the order of the help text.
var flagGroups = []string{"Input", "Normalization", "Output", "Limits", "Run"}

const groupKey = "group"

// groupOf returns the group of a flag. The flags that cobra adds belong to the
// last group, Run.
func groupOf(f *pflag.Flag) string {
	if g := f.Annotations[groupKey]; len(g) > 0 {
		return g[0]
	}
	return flagGroups[len(flagGroups)-1]
}

// autoCompress selects the compression by the extension of the output.
const autoCompress = "auto"

// The accepted values of the enumerated flags.
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
		"compress": compressNames, "fail-on": failOnNames, "on-damage": file.OnDamageNames(), "inflate": file.InflateNames(), "log-level": logLevelNames,
	} {
		completeFrom(cmd, flag, names)
	}
}

// formatNames returns the names of the built-in formats, then those of more.
func formatNames(more []record.Format) []string {
	names := record.Formats()
	for _, f := range more {
		names = append(names, f.Name())
	}
	return names
}

func (o *options) inputFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.format, "format", "f", "", "read records in this `format`: "+strings.Join(formatNames(o.formats), ", ")+", or the text of an nginx log_format or Apache LogFormat. Default: detect it from the first records of each input")
	f.StringVar(&o.dialect, "dialect", "", "undo the escapes that this server writes into its logs: `name` is "+strings.Join(dialectNames, ", ")+". Default: the dialect of the format")
	f.StringVar(&o.target, "target", targetNames[0], "normalize these `URLs` of an access log: "+strings.Join(targetNames, ", ")+" (as far as the format has them)")
	f.StringVar(&o.urlField, "url-field", "", "find the URL at this `path`: a member such as request.uri (jsonl), the name or number of a column (csv, tsv), or a key (logfmt, ltsv)")
	f.StringArrayVar(&o.url, "url", nil, "compose the URL of several fields: comma-separated `PART=PATH` pairs, such as host=request.host,path=request.uri; PART is "+strings.Join(record.URLPartNames(), ", ")+". Repeat a part for alternatives: the first one that is not empty counts")
	f.StringVar(&o.baseField, "base-field", "", "resolve the URL against the base at this `path` of the same record (a member or column, as in --url-field)")
	f.StringVar(&o.base, "base", "", "resolve relative URLs against this `URL`; https://{host}/ takes the host from the field \"host\" of each record")
	f.StringVar(&o.timezone, "timezone", "", "read times without a zone as times in this `zone`: an IANA name such as Europe/Berlin, Local, or an offset such as +02:00. Default: such records have no field time")
	f.IntVar(&o.year, "year", 0, "read times without a year as times in this `year`. Default: such records have no field time")
}

func (o *options) codecFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.profile, "profile", "p", defaultProfile, "apply this profile: a `name` that 'urlfold profiles' lists, or a YAML file")
	f.StringSliceVar(&o.rules, "rule", nil, "add `rules` to the profile or remove them: +rfc-clean,-frag-drop. Rules: "+strings.Join(ruleNames(), ", "))
	f.StringVarP(&o.key, "key", "k", "", "compute keys at this `level`: "+strings.Join(levelNames(), ", ")+". Default: that of the profile")
	f.StringVar(&o.standard, "standard", "", "compute keys by this `standard`: "+strings.Join(standardNames, ", ")+". Default: that of the profile")
	f.StringVar(&o.queryEncoding, "query-encoding", "utf-8", "encode queries as a browser does on a page in this encoding: a `label` such as windows-1252, shift_jis, gbk")
	f.StringVar(&o.hash, "hash", hashNames[0], "hash keys with this function: `name` is "+strings.Join(hashNames, ", "))
	f.StringVar(&o.hmacKeyFile, "hmac-key-file", "", "read the key of hmac-sha256 from this `file`, as raw bytes; one newline at the end is ignored")
	f.StringVar(&o.keyFormat, "key-format", keyFormNames[0], "write keys in this `format`: "+strings.Join(keyFormNames, ", "))
	f.StringSliceVar(&o.repairs, "repair", nil, "repair these `defects`, which no standard repairs: "+strings.Join(record.RepairNames(), ", "))
	f.StringArrayVar(&o.params, "param", nil, "declare, for --fields params, how a parameter is serialized: comma-separated `KEY=VALUE` pairs as in OpenAPI, such as name=color,in=query,style=pipeDelimited,explode=false,type=array or name=id,in=path,path=/users/{id}. Repeat for each parameter")
	f.StringSliceVar(&o.secrets, "secret", nil, "replace the values of the parameters with these `names`, and passwords, by ***")
}

func (o *options) outputFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.render, "render", "r", "", "write this `form`: rewrite (the record with its URLs replaced), jsonl, tsv, urls, keys, extend (the record with the fields of --extend), parquet (a file of typed columns). Default: rewrite, or parquet for an output named .parquet")
	f.StringSliceVar(&o.fields, "fields", nil, "write these `fields` in jsonl, tsv and parquet, in this order: "+strings.Join(record.FieldNames(), ", "))
	f.StringSliceVar(&o.extend, "extend", nil, "add `NAME=FIELD` to each jsonl, csv or tsv record and change nothing else, for example url_norm=norm")
	f.StringVarP(&o.output, "output", "o", "", "write to this `file`; the data goes to FILE.part, which is renamed when complete. Default: stdout")
	f.StringVar(&o.outputDir, "output-dir", "", "write one output per input below this `directory`, at the input's path relative to its folder or glob; each is renamed when complete")
	f.BoolVar(&o.force, "force", false, "overwrite existing outputs. Default: fail if one exists")
	f.StringVar(&o.compress, "compress", autoCompress, "compress the output by this `method`: "+strings.Join(compressNames, ", ")+". auto follows the extension, .gz or .zst, and is zstd in parquet; with --output-dir, inputs in other compressed formats become .zst")
	f.StringVar(&o.rejects, "rejects", "", "write records that cannot be parsed to this `file`, as JSON lines. Default: pass them through")
	f.StringVar(&o.report, "report", "", "write a JSON report to this `file`, or to stdout if it is -. An existing report is overwritten")
	f.BoolVar(&o.redact, "redact", false, "replace passwords in URLs by ***")
}

func (o *options) limitFlags(f *pflag.FlagSet) {
	f.StringVar(&o.maxRecord, "max-record", "1MiB", "pass records longer than this `size` through unparsed")
	f.StringVar(&o.maxURL, "max-url", "", "reject URLs longer than this `size`. Default: the limit of the profile, or 64KiB")
	f.StringVar(&o.maxDecompressed, "max-decompressed", "0", "stop reading a compressed file after this `size` of decompressed data; 0 means no limit")
	f.Int64Var(&o.maxRatio, "max-ratio", 1000, "stop reading a compressed file that expands by more than this `factor`; -1 means no limit")
	f.StringVar(&o.maxWindow, "max-window", "128MiB", "reject zstd windows and xz dictionaries larger than this `size`")
}

func (o *options) runFlags(f *pflag.FlagSet) {
	f.IntVarP(&o.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "run `N` workers in parallel")
	f.BoolVar(&o.unordered, "unordered", false, "write records as they are finished instead of in input order")
	f.StringVar(&o.onDamage, "on-damage", file.OnDamageNames()[0], "handle the records of a damaged archive by this `policy`: "+strings.Join(file.OnDamageNames(), ", ")+". quarantine writes only records that a checksum verifies")
	f.StringVar(&o.inflate, "inflate", file.InflateNames()[0], "decode gzip files with this `decoder`: "+strings.Join(file.InflateNames(), ", ")+". klauspost is slower")
	f.StringVar(&o.failOn, "fail-on", "damage", "exit with code 4 on this `condition`: never, damage (a damaged archive), rejects (a rejected record, or damage), flags (a URL with a flag other than relative, or any of these)")
	f.BoolVar(&o.quiet, "quiet", false, "print no summary and no progress bar")
	f.BoolVar(&o.noProgress, "no-progress", false, "print no progress bar")
	f.StringVar(&o.logLevel, "log-level", "warn", "log messages of at least this `level` to stderr: "+strings.Join(logLevelNames, ", "))
}

// levelNames returns the names of the key levels.
func levelNames() []string { return recordconf.Levels() }

// findLevel returns the key level called name, or that of p if name is empty.
func findLevel(name string, p codec.Profile) (codec.Level, error) {
	if name == "" {
		return p.Key, nil
	}
	i, err := suggest.Index("key level", levelNames(), name)
	return codec.Level(i), err
}
