package cli

import (
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/charset"
	"github.com/urlfold/urlfold/internal/recordconf"
	"github.com/urlfold/urlfold/internal/redact"
	"github.com/urlfold/urlfold/internal/suggest"
	"github.com/urlfold/urlfold/sources/file"
)

// options holds the flags of the one-shot as the user typed them. Scripts
// depend on the flag names.
type options struct {
	formats []record.Format // in addition to the built-in ones

	// Input.
	format, dialect     string
	delimiter, quote    string
	escape              string
	noHeader            bool
	target              string
	urlField, baseField string
	url                 []string
	base                string
	timezone            string
	year                int
	where               string

	// Normalization.
	profile, key, standard       string
	rules                        []string
	queryEncoding                string
	hash, hmacKeyFile, keyFormat string
	repairs, secrets             []string
	params                       []string
	list, listFlag               string // of diff: the list in place of the profile's, and its flag

	// Output.
	render           string
	extend           []string
	fields           []string
	header           string
	exclude          []string // globs of inputs to leave out
	allowEmpty       bool
	output, compress string
	outputDir        string
	force            bool
	rejects, report  string
	redact           []string
	unique           string
	by, keyOf        string
	identified       bool       // records have an identity without --unique
	asked            *seenQuery // of seen query; else nil

	// Limits.
	maxRecord, maxURL string
	maxQuoted         string
	maxExpansion      string
	maxDecompressed   string
	maxRatio          int64
	maxWindow         string
	inflate           string
	maxMemoryText     string
	maxMemory         int64
	tempDir           string
	index             string

	// The run.
	jobs      int
	unordered bool
	shardText string
	shardBy   string

	lockStep     string
	lineBuffered bool
	failOn       []string
	onDamage     string
	quiet        bool
	noProgress   bool
	logLevel     string
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
	failOnNames   = []string{"damage", "rejected", "flags", "no-url", "no-field", "uninspected", "none"}
	compressNames = []string{autoCompress, "none", "gzip", "zstd"}
	headerNames   = []string{"auto", "true", "false"}
	logLevelNames = []string{"debug", "info", "warn", "error"}
	dialectNames  = record.DialectNames()
)

// registerOnly adds the flags with these names to cmd, in their order, and gives
// all options their defaults. The flags that own adds come first.
func (o *options) registerOnly(cmd *cobra.Command, names []string, own ...func(f *pflag.FlagSet)) {
	all := &cobra.Command{}
	o.register(all)
	f := cmd.Flags()
	f.SortFlags = false
	for _, add := range own {
		add(f)
	}
	for _, name := range names {
		f.AddFlag(all.Flags().Lookup(name))
		if complete, ok := all.GetFlagCompletionFunc(name); ok {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // the flag exists
		}
	}
}

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
		"format": formatNames(o.formats), "dialect": dialectNames, "target": targetNames,
		"key": levelNames(), "standard": standardNames, "hash": hashNames, "render": renderNames,
		"query-encoding": charset.Names(), "rule": signedRuleNames(), "key-format": keyFormNames, "repair": record.RepairNames(),
		"compress": compressNames, "header": headerNames, "unique": uniqueNames, "by": record.IdentityNames(), "key-of": keyOfNames, "shard-by": shardByNames, "lock-step": lockStepNames, "fail-on": failOnNames, "on-damage": file.OnDamageNames(), "inflate": file.InflateNames(), "log-level": logLevelNames,
	} {
		completeFrom(cmd, flag, names)
	}
	completeProfile(cmd, "profile")
	completeList(cmd, "fields", record.FieldNames())
}

// formatNames returns the names of the built-in formats, then those of more.
func formatNames(more []record.Format) []string {
	names := record.Formats()
	for _, f := range more {
		if name := f.Name(); !slices.Contains(names, name) { // avro is a format of messages and of files
			names = append(names, name)
		}
	}
	return names
}

func (o *options) inputFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.format, "format", "f", "", "read records in this `format`: "+strings.Join(formatNames(o.formats), ", ")+", or the text of an nginx log_format or Apache LogFormat. Default: detect it from the first records of each input")
	f.StringArrayVar(&o.exclude, "exclude", nil, "leave out the files that match this `glob`: by name, such as 'error*', or by path if it contains a slash, such as '**/old/**'. Repeatable")
	o.emptyFlag(f)
	f.StringVar(&o.dialect, "dialect", "", "undo the escapes of this log `dialect`: "+strings.Join(dialectNames, ", ")+" (backslash is for tables). Default: the dialect of the format")
	f.StringVar(&o.delimiter, "delimiter", "", "read csv with this `character` between cells, such as ; or |, or tab. Implies --format csv. Default: a comma")
	f.StringVar(&o.quote, "quote", "", "read tables whose cells are quoted with this `character`, such as ', or none if cells are never quoted. Default: \", in a TSV if each of its first cells that begins with one also ends with one")
	f.StringVar(&o.escape, "escape", "", `read tables in which this `+"`character`"+`, a backslash, makes the next one literal, as --dialect backslash does. Default: quotes in quoted cells are doubled`)
	f.BoolVar(&o.noHeader, "no-header", false, "the tables have no header: --url-field and the like must be numbers of columns, from 1")
	f.StringVar(&o.target, "target", targetNames[0], "normalize these `URLs` of an access log: "+strings.Join(targetNames, ", ")+" (both, if the format has both). The other URLs stay as they are")
	f.StringVar(&o.urlField, "url-field", "", "read the URL at this `path`: a member such as request.uri (jsonl), the name or number of a column (tables), the names of up to three columns (parquet, avro), or a key (logfmt, ltsv, journal-export)")
	f.StringArrayVar(&o.url, "url", nil, "compose the URL from several fields: comma-separated `PART=PATH` pairs, such as host=request.host,path=request.uri; PART is "+strings.Join(record.URLPartNames(), ", ")+". Repeat a part for alternatives: the first one that is not empty counts")
	f.StringVar(&o.baseField, "base-field", "", "resolve the URL against the base at this `path` of the record, in the syntax of --url-field")
	f.StringVar(&o.base, "base", "", "resolve relative URLs against this `URL`. In https://{host}/, {host} stands for the field host of each record")
	f.StringVar(&o.timezone, "timezone", "", "read times without a zone as times in this `zone`: an IANA name such as Europe/Berlin, Local, or an offset such as +02:00. Default: such records have no time field")
	f.IntVar(&o.year, "year", 0, "read times without a year as times in this `year`. Default: such records have no time field")
	f.StringVar(&o.where, "where", "", `keep only the records for which this `+"`expression`"+` is true, such as 'status == 200 && agent contains "bot"'. Names are those of --fields; has(FIELD) and flag("NAME") are functions. Default: keep all`)
}

// redactFlag adds --redact, whose default is usual.
func redactFlag(f *pflag.FlagSet, values *[]string, usual []string) {
	f.StringArrayVar(values, "redact", usual, "replace this `value` with *** wherever it is: "+strings.Join(redact.Names(), ", ")+", or /REGEX/. Repeatable. Each but none includes passwords, those of URLs")
}

// checkRedact checks the values of --redact.
func checkRedact(bad *mistakes, values []string) {
	_, _, err := redact.Parse(values)
	bad.add("--redact", err)
}

// usualRedact is what commands hide that print examples.
var usualRedact = []string{redact.Passwords}

// emptyFlag adds --allow-empty.
func (o *options) emptyFlag(f *pflag.FlagSet) {
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "succeed if a directory has no files, a glob matches no files, or --exclude leaves none. Default: fail")
}

func (o *options) codecFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.profile, "profile", "p", defaultProfile, "apply this profile: a `name` that 'urlfold profiles' lists, or a YAML file")
	f.StringSliceVar(&o.rules, "rule", nil, "add `rules` to the profile or remove them: +rfc-clean,-frag-drop. Rules: "+strings.Join(ruleNames(), ", "))
	f.StringVarP(&o.key, "key", "k", "", "compute keys at this `level`: "+strings.Join(levelNames(), ", ")+". Default: that of the profile")
	f.StringVar(&o.standard, "standard", "", "compute keys by this `standard`: "+strings.Join(standardNames, ", ")+". Default: that of the profile")
	f.StringVar(&o.queryEncoding, "query-encoding", "utf-8", "encode queries as browsers do on a page with this encoding: a `label` such as windows-1252, shift_jis, gbk")
	f.StringVar(&o.hash, "hash", hashNames[0], "hash keys with this `function`: "+strings.Join(hashNames, ", "))
	f.StringVar(&o.hmacKeyFile, "hmac-key-file", "", "read the key of hmac-sha256 from this `file`, as raw bytes without the newline at the end")
	f.StringVar(&o.keyFormat, "key-format", keyFormNames[0], "write keys in this `format`: "+strings.Join(keyFormNames, ", "))
	f.StringSliceVar(&o.repairs, "repair", nil, "repair these `defects`, for which no standard defines a repair: "+strings.Join(record.RepairNames(), ", "))
	f.StringArrayVar(&o.params, "param", nil, "declare how a parameter is serialized, for --fields params: `KEY=VALUE` pairs as in OpenAPI, separated by commas, such as name=color,in=query,style=pipeDelimited,explode=false,type=array or name=id,in=path,path=/users/{id}. Repeat the flag for each parameter")
	f.StringSliceVar(&o.secrets, "secret", nil, "replace passwords, and the values of the parameters with these `names`, with ***")
}

func (o *options) outputFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.render, "render", "r", "", "write this `form`: rewrite (the record, with its URLs in normal form), jsonl, tsv, csv, urls, keys, extend (the record, with the fields of --extend added), parquet (a file of typed columns). Default: rewrite, or parquet for an output named .parquet")
	f.StringSliceVar(&o.fields, "fields", nil, "write these `fields` with --render jsonl, tsv, csv or parquet, in the order that you list them: "+strings.Join(record.FieldNames(), ", "))
	f.StringVar(&o.header, "header", headerNames[0], "write a line with the names of the fields at the beginning of each output, with --render tsv or csv: `WHEN` is auto (only csv), true or false. --header alone means true")
	f.Lookup("header").NoOptDefVal = headerNames[1]
	f.StringSliceVar(&o.extend, "extend", nil, "add fields to each record of JSON lines or a table and change nothing else: `NAME=FIELD` pairs such as url_norm=norm")
	f.StringVarP(&o.output, "output", "o", "", "write to this `file`. The data goes to FILE.part, which is renamed to FILE when complete. Default: stdout")
	f.StringVar(&o.outputDir, "output-dir", "", "write one output for each input below this `directory`, at the input's path relative to its folder or glob")
	f.BoolVar(&o.force, "force", false, "overwrite existing outputs. Default: fail if one exists")
	f.StringVar(&o.compress, "compress", autoCompress, "compress the output with this `method`: "+strings.Join(compressNames, ", ")+". auto follows the extension, .gz or .zst, and means zstd for parquet. With --output-dir, it writes inputs in other compressed formats as .zst")
	f.StringVar(&o.rejects, "rejects", "", "write records that cannot be parsed to this `file`, as JSON lines. Default: write them to the output")
	f.StringVar(&o.report, "report", "", "write a JSON report to this `file`, or to stdout if it is -. Overwrite an existing report")
	f.StringVar(&o.unique, "unique", "", "keep one record for each key: `MODE` is "+strings.Join(uniqueNames, ", ")+". --unique alone means first: the first of all inputs, in their order. last and count read the inputs twice; count adds the field count. mark keeps all records and adds the field duplicate. Records without a key are kept")
	f.Lookup("unique").NoOptDefVal = uniqueNames[0]
	f.StringVar(&o.by, "by", "", "with --unique, compare this `field`: "+strings.Join(record.IdentityNames(), ", ")+". key is the key at the level of --key. Default: key")
	f.StringVar(&o.keyOf, "key-of", "", "with --unique, compare these `URLs` of a record that has several: all, in their order, or first. Default: all")
	redactFlag(f, &o.redact, nil)
}

func (o *options) limitFlags(f *pflag.FlagSet) {
	f.StringVar(&o.maxRecord, "max-record", "1MiB", "do not parse records longer than this `size`, but pass them through")
	f.StringVar(&o.maxExpansion, "max-expansion", "", "leave the field record empty for the URLs of a record from where its output would pass this `size`. Default: 64 times the size of the record, and at least 64MiB")
	f.StringVar(&o.maxQuoted, "max-quoted", "1MiB", "take a quote for damage if its cell spans lines and more than this `size`, or more than 1,000 lines per MiB")
	f.StringVar(&o.maxURL, "max-url", "", "reject URLs longer than this `size`. Default: the limit of the profile, or 64KiB")
	f.StringVar(&o.maxDecompressed, "max-decompressed", "0", "stop reading a compressed file after this `size` of decompressed data; 0 means no limit")
	f.Int64Var(&o.maxRatio, "max-ratio", 1000, "stop reading a compressed file, or pages of a Parquet file, that expand by more than this `factor`; -1 means no limit")
	f.StringVar(&o.maxMemoryText, "max-memory", defaultMemory, "with --unique, keep keys in at most this `size` of memory, and the others in temporary files. With --lock-step, stop reading while this size of answers waits for the caller; default there: "+aheadLimit)
	f.StringVar(&o.tempDir, "temp-dir", "", "write temporary files to this `directory`. Default: that of the operating system")
	f.StringVar(&o.maxWindow, "max-window", "128MiB", "do not read zstd and xz files that need a window or dictionary larger than this `size`, and Parquet files with a larger page")
}

func (o *options) runFlags(f *pflag.FlagSet) {
	f.IntVarP(&o.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "run `N` workers in parallel")
	f.BoolVar(&o.unordered, "unordered", false, "write records in the order in which workers finish them, not in input order")
	f.StringVar(&o.shardText, "shard", "", "process only one of several shards of the input: `INDEX/COUNT`, with an index from 0, such as 0/7. Every record belongs to exactly one shard, so that COUNT processes share the work. 'urlfold merge-reports' adds their reports up")
	f.StringVar(&o.shardBy, "shard-by", "", "with --shard, assign whole inputs, by their `field` path relative to the folder or glob, or records by a field of their first URL: "+strings.Join(shardByNames, ", ")+". Records without the field are assigned by a hash of their bytes. Default: path, or with --unique the field of --by")
	f.StringVar(&o.lockStep, "lock-step", "", "answer each line of stdin with one line on stdout, as soon as the input pauses, for programs that run urlfold as a coprocess. A line without a result gets an empty answer. `FRAMING` is lines, or chunks if each block of lines begins with its number of lines (send_chunk_header of ClickHouse). --lock-step alone means lines")
	f.Lookup("lock-step").NoOptDefVal = stepLines
	f.BoolVar(&o.lineBuffered, "line-buffered", false, "write records as soon as a pipe that is read pauses. Default: up to 50 ms later, which is faster")
	f.StringVar(&o.onDamage, "on-damage", file.OnDamageNames()[0], "apply this `policy` to the records of a damaged archive: "+strings.Join(file.OnDamageNames(), ", ")+". quarantine writes only records that a checksum verifies")
	f.StringVar(&o.inflate, "inflate", file.InflateNames()[0], "decompress gzip files with this `decoder`: "+strings.Join(file.InflateNames(), ", ")+". klauspost is slower")
	f.StringVar(&o.index, "index", "", "inflate a gzip file on several cores with the index in this `file`, and write it if it does not exist. auto: gztool's index beside the input, or one in the user's cache folder. Formats: gztool; indexed_gzip, which is written if the name ends in .gzidx")
	f.StringSliceVar(&o.failOn, "fail-on", failOnNames[:1], "exit with code 4 on any of these `conditions`: damage (of an archive), rejected (a rejected record), flags (a URL with a flag other than relative), no-url (a record without a URL), no-field (a record without the field of the URL), uninspected (with --redact or --secret, a record that was not read, so that it may show what they hide), or none")
	f.BoolVar(&o.quiet, "quiet", false, "print errors and damaged inputs only, without a summary or a progress bar")
	f.BoolVar(&o.noProgress, "no-progress", false, "do not print a progress bar")
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
