package cli

import (
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/sources/file"
)

// options holds the options of the one-shot as the user typed them. Scripts
// depend on the option names.
type options struct {
	config.Format `group:"Input"`
	config.Codec  `group:"Input"`
	inputOptions  `group:"Input"`
	codecOptions  `group:"Normalization"`
	outputOptions `group:"Output"`
	limitOptions  `group:"Limits"`
	runOptions    `group:"Run"`

	formats        []record.Format  // in addition to the built-in ones
	late           map[string]error // by option: the error of a size that was given, or nil; resolve reports the errors
	list, listFlag string           // for diff: the list that replaces the profile's, and the option that names it
	identified     bool             // records have an identity without --dedupe
	asked          *seenQuery       // set for seen query, otherwise nil
	buckets        *bucketStore
	conditions     []string // accepted by --fail-on; nil: those in its tag
}

// inputOptions select the files to read, and say how to read their records.
type inputOptions struct {
	// Leave out the files that match this glob: by name, such as 'error*', or by path
	// if it contains a slash, such as '**/old/**'. Repeatable.
	Exclude []string `flag:"exclude" for:"readers,check" arg:"glob"`
	// Leave out files whose format cannot be detected or is not supported, or whose records
	// have no field for a URL, and name them in the summary. Default: fail.
	SkipUnknown bool `flag:"skip-unknown" for:"readers,check"`
	// Succeed if a directory contains no files, a glob matches no files, or
	// --exclude leaves none. Default: fail.
	AllowEmpty bool `flag:"allow-empty" for:"readers,check"`
	// Use this store for the paths s3://BUCKET/KEY: comma-separated settings
	// endpoint=URL, region=NAME, profile=NAME, path-style, anonymous and requester-pays.
	// Default: the settings of the AWS tools in the environment, and Amazon S3.
	S3 string `flag:"s3" for:"readers,check" arg:"settings"`
	// Compose the URL from several fields: comma-separated PART=PATH pairs, such as
	// host=request.host,path=request.uri; PART is absolute, scheme, host, port, path or
	// query. Repeat a part for alternatives: the first one that is not empty counts.
	URLs []string `flag:"url" for:"readers" arg:"PART=PATH" job:"URL"`
	// Read output fields from these members, columns, keys or labels: comma-separated
	// FIELD=NAME pairs such as status=sc,client=src.ip. FIELD is time, status, bytes,
	// duration, client, agent, referer, vhost, request_id or method; NAME has the syntax of
	// --url-field. Default: the usual names.
	Mapped []string `flag:"map" for:"readers" split:"," arg:"FIELD=NAME" job:"Map"`
	// Keep only the records for which this expression is true, such as 'status == 200 &&
	// agent contains "bot"'. Names are as in --fields; has(FIELD) and flag("NAME") are
	// functions. Default: keep all.
	Where string `flag:"where" for:"count,collisions,seen" arg:"expression"`
	// Read only the first N records of all inputs, one input after the other.
	// Damage after these records is not found. Blank lines and headers do not
	// count. Default: read all.
	Limit int64 `flag:"limit" for:"readers" arg:"N"`
	// Take only a random sample: N[:SEED] takes N records of all inputs, as in 1000 or 1000:7.
	// SEED, by default 0, selects the sample.
	Sample string `flag:"sample" for:"readers" arg:"N[:SEED]"`
}

// codecOptions hold the options whose keys in a configuration have another form.
type codecOptions struct {
	// Add rules to the profile or remove them: +rfc-clean,-frag-drop. Rules: {}.
	Changes []string `flag:"rule" for:"count,collisions,seen,explain" split:"," arg:"rules"`
	// Read the key of hmac-sha256 from this file, as raw bytes without the newline at the
	// end.
	HMACKeyFile string `flag:"hmac-key-file" for:"count,seen" arg:"file" job:"HMACKey"`
	// Declare how a parameter is serialized, for --fields params: KEY=VALUE pairs as in
	// OpenAPI, separated by commas, such as
	// name=color,in=query,style=pipeDelimited or
	// name=id,in=path,path=/users/{id}. Repeat the option for each parameter.
	Declared []string `flag:"param-style" arg:"KEY=VALUE"`
}

// outputOptions say what to write, and where.
type outputOptions struct {
	// Write these fields with --to jsonl, tsv, csv, parquet or arrow, in the order that
	// you list them: {}; also param(NAME), campaign.source and other computed fields.
	Fields []string `flag:"fields" for:"query" split:"," arg:"fields"`
	// Write a line with the names of the fields at the beginning of each output, with
	// --to tsv or csv: WHEN is auto (only csv), yes or no. --header alone means yes.
	Header string `flag:"header" for:"query" enum:"auto,yes,no" alone:"yes" arg:"WHEN" noun:"value"`
	// Add fields to each record of JSON lines or a table and change nothing else:
	// NAME=FIELD pairs such as url_norm=norm.
	Extend []string `flag:"extend" for:"query" split:"," arg:"NAME=FIELD"`
	// Write the records of all inputs in the order of this FIELD: time. A
	// record without a URL or a time, such as a header, keeps its place after
	// the preceding record of its input.
	Sort string `flag:"sort" for:"query" enum:"time" arg:"FIELD" noun:"field" job:"Identity.Time"`
	// Write to this file. The data goes to FILE.part, which is renamed to FILE when
	// complete. {vhost} in FILE stands for the host of each record and {site} for its
	// registrable domain: each has its own output. Default: stdout.
	Output string `flag:"output,o" for:"query" arg:"file"`
	// Write one output for each input below this directory, at the input's path relative
	// to its folder or glob.
	OutputDir string `flag:"output-dir" for:"query" arg:"directory"`
	// With --output-dir, go on where a killed run stopped: make only the outputs that are not
	// finished. An output is finished if it was made from the same input with the same
	// settings, and the input was intact. The file .urlfold-outputs in the directory records
	// this.
	Resume bool `flag:"resume"`
	// Replace each input by its output when the output is complete, if the input is intact and
	// was not changed during the run. The output gets the mode of the input, and its owner if
	// the system permits.
	InPlace bool `flag:"in-place"`
	// Give the outputs of --output-dir or --in-place the times of their inputs,
	// and the outputs of --output-dir also the mode and the owner, as cp -p
	// does.
	Preserve bool `flag:"preserve"`
	// Read the whole input, write no output, and print what would be written and how much
	// would change.
	DryRun bool `flag:"dry-run"`
	// Overwrite existing outputs. Default: fail if one exists.
	Force bool `flag:"force" for:"query"`
	// Compress the output with this method: {}. gzip and zstd can have a level;
	// gzip:6 and zstd:3 are the defaults. auto follows the extension, .gz or
	// .zst, and means zstd for parquet. With --output-dir, auto writes .zst for
	// inputs in other compressed formats.
	Compress string `flag:"compress" for:"query" enum:"auto,none,gzip,zstd" arg:"method"`
	// Write records that cannot be parsed to this file, as JSON lines. Default: write them
	// to the output.
	Rejects string `flag:"dead-letter" for:"query" arg:"file"`
	// Write an account of the run as JSON to this file, or to stdout if it is -. Overwrite an
	// existing file.
	Report string `flag:"summary" for:"query" arg:"file"`
	// Keep one record for each key: MODE is {}. --dedupe alone means first,
	// which keeps the first record of all inputs, in their order. last and
	// count read the inputs twice; count adds the field count. mark keeps all
	// records and adds the field duplicate. Records without a key are kept.
	Unique string `flag:"dedupe" enum:"first,last,mark,count" alone:"first" arg:"MODE" job:"Note" noun:"mode"`
	// With --dedupe, compare this field: {}. key is the key at the level of --key.
	// Default: key.
	By string `flag:"by" for:"seen" arg:"field" job:"Identity"`
	// With --dedupe, compare these URLs of a record that has several: all, in their order,
	// or first. Default: all.
	KeyOf string `flag:"dedupe-url" for:"seen" enum:"all,first" arg:"URLs"`
}

// limitOptions hold the limits that are not limits of the codec.
type limitOptions struct {
	field.Limits
	// With --dedupe and --sort, limit the memory for keys and times to this size,
	// and keep the rest in temporary files. With --lock-step, stop reading
	// while answers of this size wait for the caller; the default is then
	// 64MiB.
	MaxMemory field.Size `flag:"max-memory" for:"count,collisions,seen" bounds:"16MiB," arg:"size"`
	// Write temporary files to this directory. Default: the operating system's.
	TempDir string `flag:"temp-dir" for:"count,collisions" arg:"directory"`
}

// runOptions say how the run works and what it reports.
type runOptions struct {
	// Run N workers in parallel.
	Jobs int `flag:"workers,j" for:"readers" arg:"N"`
	// Write records in this ORDER: input (as in the inputs), lane (as within
	// each file) or none (as workers finish them).
	Order string `flag:"order" for:"query" enum:"none,lane,input" arg:"ORDER" noun:"order"`
	// Process only one of several shards of the input: INDEX/COUNT, with an index from 0,
	// such as 0/7. Every record belongs to exactly one shard, so that COUNT processes share
	// the work. 'urlfold report --merge' adds their summaries up.
	Share string `flag:"shard" arg:"INDEX/COUNT"`
	// With --shard, divide the input by this field: {}. path assigns whole inputs, by their
	// path relative to the folder or glob; every other field assigns each record, by its
	// first URL. Records without the field are assigned by a hash of their bytes. Default:
	// path, or with --dedupe the field of --by.
	ShardBy string `flag:"shard-by" arg:"field" job:"Shard"`
	// Answer each line of stdin with one line on stdout, as soon as the input pauses, for
	// programs that run urlfold as a coprocess. A line without a result gets an empty
	// answer. FRAMING is lines, or chunks if each block of lines starts with its number
	// of lines (send_chunk_header of ClickHouse). --lock-step alone means lines. If the
	// format is arrow, the streams are Arrow IPC, and a batch is answered with a batch.
	LockStep string `flag:"lock-step" enum:"lines,chunks" alone:"lines" arg:"FRAMING" noun:"value"`
	// Write records as soon as an input pipe pauses. Default: wait up to 50 ms, for more
	// throughput.
	LineBuffered bool `flag:"line-buffered" for:"query"`
	// Apply this policy to the records of a damaged archive: {}. quarantine writes only
	// records that a checksum verifies.
	OnDamage string `flag:"on-damage" for:"count,query" arg:"policy" noun:"policy"`
	// Inflate a gzip file on several cores with the index in this file; create the
	// index if it is missing. auto uses gztool's index beside the input, or an index in
	// the user's cache folder. The index has gztool's format, or indexed_gzip's if the
	// name ends in .gzidx.
	Index string `flag:"index" for:"count" arg:"file"`
	// Exit with code 4 on any of these conditions: damage (of an archive),
	// unknown (a file in an unknown format that was not skipped), rejected (a
	// rejected record), flags (a URL with a flag other than relative), no-url
	// (a record without a URL, in a format whose records usually have one),
	// no-field (a record without the field of the URL, or a field of --where
	// that is in no record), uninspected (a record that could not be searched
	// for the values that --redact and --secret hide), or none.
	FailOn []string `flag:"fail-on" for:"count,query" enum:"damage,unknown,rejected,flags,no-url,no-field,uninspected,none" split:"," arg:"conditions"`
	// Print errors and damaged inputs only, without a summary or a progress bar.
	Quiet bool `flag:"quiet" for:"count,seen"`
	// Print a progress bar: WHEN is auto (on a terminal) or never.
	Progress string `flag:"progress" for:"count,query" enum:"auto,never" arg:"WHEN" noun:"value"`
	// Log messages of at least this level to stderr.
	LogLevel string `flag:"log-level" for:"count,query" enum:"debug,info,warn,error" arg:"level" noun:"level"`
}

// newOptions returns the options of a command line without options. c has the formats
// in addition to the built-in ones; it may be nil.
func newOptions(c *daemon.Catalog) options {
	o := options{
		Format:        config.DefaultFormat(),
		Codec:         config.Default().Codec,
		outputOptions: outputOptions{Header: "auto", Compress: autoCompress},
		limitOptions:  limitOptions{Limits: field.DefaultLimits(), MaxMemory: defaultMemory},
		runOptions: runOptions{
			Jobs: runtime.GOMAXPROCS(0), OnDamage: file.OnDamageNames()[0],
			FailOn: []string{"damage", "unknown"}, LogLevel: "warn", Progress: "auto", Order: "input",
		},
		late: map[string]error{}, buckets: &bucketStore{},
	}
	o.Render.Form = ""
	if c != nil {
		o.formats = c.Formats()
	}
	return o
}

// autoCompress selects the compression by the extension of the output.
const autoCompress = "auto"

// checkCompress checks the value of --compress, which may have a level.
func (o *options) checkCompress(bad *command.Mistakes) {
	method, _, leveled := strings.Cut(o.Compress, ":")
	_, err := suggest.Index("compression", enumOf("compress"), method)
	if err == nil && leveled {
		_, _, err = compress.ParseFormat(o.Compress, "")
	}
	bad.Add("--compress", err)
}

// failOn adds --fail-on to a command whose conditions differ from those of the
// root command. conditions describes them in the help text; accepted holds the
// values of the option.
func (o *options) failOn(cmd *cobra.Command, conditions string, accepted ...string) {
	o.FailOn = slices.DeleteFunc(o.FailOn, func(c string) bool { return !slices.Contains(accepted, c) })
	o.conditions = accepted
	cmd.Flags().StringSliceVar(&o.FailOn, "fail-on", o.FailOn, "exit with code 4 on any of these: "+conditions+"; none turns off all `conditions`")
	command.CompleteList(cmd, "fail-on", accepted)
}

// enumOf returns the accepted values of a one-shot option, from the tag of its field.
func enumOf(flag string) []string {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[options]()) {
		if f.Tag.Get("flag") == flag {
			return strings.Split(f.Tag.Get("enum"), ",")
		}
	}
	return nil
}

// checkRedact checks the values of --redact.
func checkRedact(bad *command.Mistakes, values []string) {
	_, _, err := redact.Parse(values)
	bad.Add("--redact", err)
}

// usualRedact is the default of --redact for commands that print examples.
var usualRedact = []string{redact.Passwords}

// findLevel returns the key level called name, or the level of p if name is
// empty.
func findLevel(name string, p codec.Profile) (codec.Level, error) {
	if name == "" {
		return p.Key, nil
	}
	return recordconf.Level(name)
}
