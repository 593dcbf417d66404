package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/table"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/discard"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// A diagnosis is the result of check for a file.
type diagnosis struct {
	File        string   `json:"file"`
	Empty       bool     `json:"empty,omitempty"`
	Compression string   `json:"compression,omitempty"` // "gzip"; empty: none
	Damage      string   `json:"damage,omitempty"`
	State       string   `json:"state,omitempty"`     // why the file is not a finished output, by its name
	Integrity   string   `json:"integrity,omitempty"` // counts and damage; only with --integrity
	Skipped     string   `json:"skipped,omitempty"`   // why the file is not diagnosed
	Format      string   `json:"format,omitempty"`    // empty: unknown
	Why         string   `json:"why,omitempty"`       // why the file cannot be read in this format, or why the format is unknown
	Sampled     int      `json:"sampled,omitempty"`
	Fit         int      `json:"fit,omitempty"` // records of the sample that fit the format
	Records     int64    `json:"records"`       // without blank lines
	Recognized  int64    `json:"recognized"`    // records that fit the format
	URLs        int64    `json:"urls"`
	NoURL       int64    `json:"without_url"` // recognized records without a URL
	Rejected    int64    `json:"rejected"`    // recognized records with a URL that cannot be parsed
	Truncated   int64    `json:"truncated"`   // URLs that may have been cut by the program that wrote the log
	Misfit      *misfit  `json:"first_misfit,omitempty"`
	Escapes     string   `json:"escapes,omitempty"`
	Quotes      string   `json:"quotes,omitempty"` // how the quotes of a TSV are read
	Notes       []string `json:"notes,omitempty"`
	Command     string   `json:"command,omitempty"`
	Members     []member `json:"members,omitempty"` // members of an archive

	encoding   string       // the encoding that is converted to list URLs, such as "UTF-16LE"
	byMagic    bool         // the magic number of the file says the format
	headerOnly bool         // the file is a table without rows
	detected   record.Guess // what a one-shot without --from would detect

	noURL     string // why most records have no URL; empty: they have one
	chosen    bool   // a one-shot without --from would detect another format
	relative  int64  // URLs without a host that cannot be parsed for lack of one
	unkeyed   int64  // URLs without a key because they may have been cut
	stripped  int64  // URLs whose query may have been removed
	longest   int64  // length of the longest record that is too long
	trailing  string // what follows the compressed data
	blank     bool   // the first lines are blank
	maxRecord string // the --max-record that the file needs, if it is not the default
}

// A misfit is a record that does not fit the format.
type misfit struct {
	Reason string `json:"reason"`
	Line   int64  `json:"line"`
	Offset int64  `json:"offset"` // offset of the record in the decompressed text
	At     int64  `json:"at"`     // offset in the record
}

// find returns the files that paths name. missing joins the errors for paths
// that match nothing; err is any other error.
func (o *checkOptions) find(paths []string) (files []string, skipped []file.Skipped, missing, err error) {
	var found []string
	for _, path := range paths {
		_, _, err := o.inputs([]string{path})
		switch {
		case errors.Is(err, file.ErrNoInput):
			missing = errors.Join(missing, err)
		case err != nil:
			_, _, err = o.inputs(paths) // with all paths, the error counts the arguments
			return nil, nil, nil, err
		default:
			found = append(found, path)
		}
	}
	if len(found) > 0 {
		files, skipped, err = o.inputs(found) // together, so that no file comes twice
	}
	return files, skipped, missing, err
}

// inputs returns the files that paths name, the excluded files, and an error
// for each path that matches none.
func (o options) inputs(paths []string) ([]string, []file.Skipped, error) {
	set, err := o.resolve(paths)
	if err != nil {
		return nil, nil, err
	}
	return set.inputs(nil)
}

// inputs returns the paths of the inputs, and the files that are left out.
func (s *settings) inputs(stdin io.Reader) ([]string, []file.Skipped, error) {
	source, err := s.newSource(stdin, nil, 1)
	if err != nil {
		return nil, nil, err
	}
	files, err := source.Paths()
	return files, source.Skipped(), err
}

// diagnose reads a whole file.
func (o *checkOptions) diagnose(sig *command.Signals, path string) (*diagnosis, error) {
	rep := sink.ReportOf(path, compress.Verification{})
	r := &diagnosis{File: path, State: stateOf(&rep)}
	head, err := o.head(sig.Soft, path, r)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimLeft(head, blanks)) == 0 {
		if r.blank = len(head) > 0; r.blank {
			err = r.judge(sig, o.options)
		}
		r.Empty = r.Damage == "" && r.Why == ""
		return r, err
	}
	guess := o.options
	if r.Format != "" {
		guess.From = r.Format
	}
	if err := r.detect(head, &guess); err != nil {
		return nil, err
	}
	if r.Why != "" {
		return r, r.judge(sig, o.options)
	}
	if err := r.findQuote(head, &guess); err != nil {
		return nil, err
	}
	if err := r.read(sig, &guess, head); err != nil {
		return nil, err
	}
	if r.Why != "" {
		return r, r.judge(sig, o.options)
	}
	if err := r.readUnprefixed(sig, &guess, head); err != nil {
		return nil, err
	}
	if err := r.readLonger(sig, &guess, head); err != nil {
		return nil, err
	}
	r.describe(head, &guess)
	return r, nil
}

// head returns the beginning of the file's text.
func (o *checkOptions) head(ctx context.Context, path string, r *diagnosis) (head []byte, err error) {
	set, err := o.options.resolve([]string{path})
	if err != nil {
		return nil, err
	}
	source, err := set.openSource(nil, nil, 1)
	if err != nil { // perhaps the file was removed in the meantime
		return nil, err
	}
	err = source.Inspect(ctx, peekBytes, maxPeek, func(_ string, text []byte, v compress.Verdict) {
		head = bytes.Clone(text)
		r.setVerdict(v)
		r.setCompression(v.Format) // even if there is nothing to read
	})
	if err != nil {
		return nil, command.Cut("interrupted")
	}
	if r.Why != "" {
		r.Members = set.members(path)
	}
	if file, ok := set.tables.find(path); ok {
		r.Format, r.byMagic = file.format, true
		if file.err != nil {
			r.Why, r.Damage = "--url-field: "+file.err.Error(), ""
		}
	}
	return head, nil
}

// detect finds the format, and the field of the URL if the format needs one.
func (r *diagnosis) detect(head []byte, o *options) error {
	if o.From == "" {
		set, err := o.resolve([]string{r.File})
		if err != nil {
			return err
		}
		guess, ok := detectFormat(head, set.record)
		if !ok {
			r.Why = whyNoFormat(head)
			if advice := adviseText(head); advice != "" {
				r.Why += "; " + advice
			}
			return nil
		}
		r.detected = guess.Guess
		guess.Guess, r.chosen = guess.Prefixed(head)
		o.From, r.Sampled, r.Fit, r.headerOnly = guess.Format, guess.Records, guess.Fit, guess.headerOnly
	}
	if r.Format = o.From; o.URLField == "" {
		r.findURL(head, o)
	}
	return nil
}

// findQuote determines how the quotes of a TSV are read.
func (r *diagnosis) findQuote(head []byte, o *options) error {
	if o.From != "tsv" || o.Quote != "" {
		return nil
	}
	set, err := o.resolve([]string{r.File})
	if err != nil {
		return err
	}
	c := set.record
	c.Format = o.From
	switch o.Quote = c.QuoteOf(head); {
	case o.Quote == `"`:
		r.Quotes = `quote cells (the first cells that begin with a quote also end with a quote); --quote none reads quotes as text`
	case o.Quote != "":
		r.Quotes = `are text (one of the first cells begins with a quote and does not end with a quote); --quote '"' lets quotes enclose cells`
	case bytes.IndexByte(head, '"') >= 0:
		r.Quotes = `quote cells on lines where every quote is closed; --quote '"' or --quote none changes this`
	}
	return nil
}

// findURL finds the field of the URL if the format needs one.
func (r *diagnosis) findURL(head []byte, o *options) {
	if lines, isJSON := record.WithoutPrefix(o.From, head); isJSON {
		r.detectJSON(lines, o)
		return
	}
	if separator := separators[o.From]; separator != 0 {
		fields := columns(head, separator)
		if r.headerOnly {
			// Choose the column by its name. If no name fits, the suggested command
			// line names no column, and still works.
			for i := range fields {
				fields[i].value = "/" // as if all cells held URLs
			}
			if best := urlField(fields); urlRank(best, "/") > urlRank("", "/") {
				o.URLField = best
			} else {
				o.From = "" // the suggested command line must not repeat the detected format: see read
			}
		} else {
			r.choose(fields, o)
		}
		if advice := adviseHeader(head); r.Why != "" && advice != "" {
			r.Why = advice
		}
		return
	}
	switch o.From {
	case "journal-export":
		r.choose(journalFields(head), o)
	case "msgpack", "protobuf":
		r.Why = "the format does not say which field holds the URL; name it with --url-field"
	}
}

// separators separate the cells of tables.
var separators = map[string]rune{"csv": ',', "csv-semicolon": ';', "csv-pipe": '|', "tsv": '\t'}

// detectJSON finds the fields of JSON records that hold URLs. If no field holds
// a URL but one holds log lines, detectJSON finds the format of these lines.
func (r *diagnosis) detectJSON(lines []byte, o *options) {
	fields := jsonFields(lines)
	o.Base = jsonBase(lines)
	if parts := jsonURLParts(lines, fields); parts != "" {
		o.Base, o.URLs = "", []string{parts}
		return
	}
	if format := lineFormat(fields); format != "" && urlField(fields) == "" && o.From == "jsonl" {
		r.Format, o.From, o.Base, r.chosen = format, format, "", true
		return
	}
	if paths := jsonURLFields(lines); len(paths) > 0 {
		fields = slices.DeleteFunc(fields, func(f textField) bool { return urlRank(f.name, f.value) > 0 && f.path != paths[0] })
	}
	r.choose(fields, o)
}

// choose chooses the field with the URL, or the fields with its parts.
func (r *diagnosis) choose(fields []textField, o *options) {
	o.URLField = urlField(fields)
	if parts := urlParts(fields, o.URLField); parts != "" && (o.Base == "" || strings.Contains(parts, ",query=")) {
		o.URLField, o.Base, o.URLs = "", "", []string{parts}
	} else if o.URLField == "" {
		r.Why = "no field of the first records holds a URL; name the field with --url-field"
	}
}

// read runs the file through a pipeline that writes nothing.
func (r *diagnosis) read(sig *command.Signals, o *options, head []byte) error {
	set, err := o.resolve([]string{r.File})
	if err != nil {
		return err
	}
	set.record.OnRejected, set.tables.limits.Whole = record.DispositionDead, true
	f := &formats{config: set.record, given: o.From, jobs: map[variant]*record.Job{}}
	job, err := f.add(variant{format: cmp.Or(o.From, rowless{}.Name())})
	if err == nil {
		err = job.CheckHead(headOf(job, head))
	}
	if err != nil {
		r.Why = flagNames(err).Error()
		return nil
	}
	f.fallback = job
	source, err := set.newSource(nil, func() *formats { return f }, 1)
	if err != nil {
		return command.Usage(err)
	}
	misfits := &misfitSink{Sink: discard.New(discard.Config{})}
	pipe, err := set.drain(source, engine.Options{DeadLetter: misfits, NewCodec: engine.NewRecordCodecs(f.job), Ordering: engine.OrderInput})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(sig.Soft, pipe.HardStop)
	defer stop()
	if err := pipe.Run(sig.Soft); err != nil {
		return err
	}
	st := pipe.Snapshot().Stats
	r.count(st, source.Reports())
	r.noURL = whyNoURL(r.Format, o.URLField, &st)
	r.Misfit, r.longest = misfits.first, misfits.longest
	return nil
}

// readUnprefixed reads the file again in the detected format, if Format also names the
// prefix of an access log and some records do not fit it. If no more records fit, it
// discards the new result.
func (r *diagnosis) readUnprefixed(sig *command.Signals, o *options, head []byte) error {
	if withoutPrefix(r.Format) == r.Format || r.detected.Format == "" || r.Recognized == r.Records {
		return nil
	}
	plain, other := *r, *o
	plain.Format, plain.Fit, plain.chosen, other.From = r.detected.Format, r.detected.Fit, false, r.detected.Format
	if err := plain.read(sig, &other, head); err != nil {
		return err
	}
	if plain.Recognized > r.Recognized {
		*r, *o = plain, other
	}
	return nil
}

// readLonger reads the file again if some of its records are too long, with a limit
// that is higher than their length. If it finds no more URLs, it discards the new
// result.
func (r *diagnosis) readLonger(sig *command.Signals, o *options, head []byte) error {
	limit := field.MiB
	for int64(limit) < r.longest {
		limit *= 2
	}
	if r.longest == 0 || limit > 256*field.MiB {
		return nil
	}
	longer, higher := *r, *o
	higher.MaxRecord = limit
	longer.maxRecord = limit.String()
	if err := longer.read(sig, &higher, head); err != nil {
		return err
	}
	if longer.URLs > r.URLs {
		*r = longer
	}
	return nil
}

// count takes over the counts and the verdict of the run.
func (r *diagnosis) count(st record.Stats, reports []file.Report) {
	lost := st.Rejects[record.Unparsed] + st.Rejects[record.NoField] + st.Rejects[record.ColumnCount] + st.Rejects[record.TooLong]
	r.Records = st.Records - st.Blank
	r.Recognized = r.Records - lost
	r.Rejected = st.Rejected - lost
	r.URLs, r.NoURL = st.URLs, lackURL(r.Format, &st)
	r.relative = st.Rejects[codec.ErrRelative]
	r.Truncated = max(st.Flags[codec.FlagTruncated], st.Flags[codec.FlagMaybeTruncated])
	r.unkeyed, r.stripped = st.Flags[codec.FlagMaybeTruncated], st.Flags[codec.FlagQueryStripped]
	for _, rep := range reports {
		r.setCompression(rep.Format)
		r.setVerdict(rep.Verdict)
		r.encoding = rep.Encoding
	}
}

// setVerdict takes over a verdict. An unknown format is no damage.
func (r *diagnosis) setVerdict(v compress.Verdict) {
	switch {
	case v.Unknown():
		r.Why = v.String()
	case v.Damage():
		r.Damage = v.String()
	case v.Kind == compress.TrailingGarbage:
		r.trailing = v.Detail
	}
}

// judge takes over the verdict on a file whose records cannot be read. If the file is
// damaged, the damage is the reason.
func (r *diagnosis) judge(sig *command.Signals, o options) error {
	rep, err := o.judge(sig, r.File)
	if err != nil {
		return err
	}
	r.setCompression(rep.Format)
	if r.setVerdict(rep.Verdict); r.Damage != "" && r.Format == "" {
		r.Why = ""
	}
	return nil
}

// setCompression sets the compression of the file, if it has one. The format of
// a table is not a compression.
func (r *diagnosis) setCompression(f compress.Format) {
	if f > compress.Plain && f < compress.Unsupported {
		r.Compression = f.String()
	}
}

// exampleBase and examplePage are the bases in notes and commands if the records do
// not name their host.
const (
	exampleBase = "https://www.example.com"
	examplePage = exampleBase + "/page"
)

// describe adds the escapes that occur in head, the notes and the command line.
func (r *diagnosis) describe(head []byte, o *options) {
	r.Escapes = escapesOf(r.Format, head)
	r.addNotes(head)
	if o.Base == "" && r.mostlyRelative() { // the command would read few URLs without a base
		if o.Base = exampleBase; r.Format == "html" {
			o.Base = examplePage
		}
	}
	r.Command = r.commandLine(o)
}

// mostlyRelative reports whether most URLs cannot be parsed without a base.
func (r *diagnosis) mostlyRelative() bool { return r.relative*2 > r.URLs }

// addNotes adds notes for the reader of the file.
func (r *diagnosis) addNotes(head []byte) {
	if r.Format == "html" && r.mostlyRelative() {
		r.Notes = append(r.Notes, "most links are relative; pass the address of the document with --base, as in --base "+examplePage)
	} else if log := withoutPrefix(r.Format); r.mostlyRelative() || r.URLs > 0 && (log == "clf" || log == "combined") {
		r.Notes = append(r.Notes, "the records do not name the host; pass it with --base to get absolute URLs, as in --base "+exampleBase)
	}
	if lines, isJSON := record.WithoutPrefix(r.Format, head); isJSON && r.Records == 1 && arrayHint(lines) != "" {
		r.Notes = append(r.Notes, strings.TrimPrefix(arrayHint(lines), "; "))
	}
	if r.encoding != "" {
		r.Notes = append(r.Notes, r.encoding+": URLs are listed and counted; to rewrite the file, convert it first: "+converters[r.encoding])
	}
	if r.noURL != "" {
		r.Notes = append(r.Notes, r.noURL)
	}
	if r.trailing != "" {
		r.Notes = append(r.Notes, "the file continues after its compressed data, and what follows is not read: "+r.trailing)
	}
	if bytes.HasPrefix(head, []byte("#")) && bytes.Contains(head, []byte("x-edge-location")) {
		r.Notes = append(r.Notes, "CloudFront does not log requests whose URL is longer than 8,192 bytes")
	}
	if r.unkeyed > 0 {
		r.Notes = append(r.Notes, "HAProxy cuts request lines at 1,024 bytes, and syslog cuts lines; raise tune.http.logurilen and the len of the log line. URLs that may be cut have no key")
	}
	if r.stripped > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s URLs end in '?': Squid removes queries unless strip_query_terms is off", terminal.FormatCount(r.stripped)))
	}
}

// converters are the commands that convert text in an encoding of compress.
var converters = map[string]string{
	"UTF-16LE": "iconv -f UTF-16 -t UTF-8", "UTF-16BE": "iconv -f UTF-16 -t UTF-8", "CR line ends": `tr '\r' '\n'`,
}

// commandLine returns a command line that normalizes the file.
func (r *diagnosis) commandLine(o *options) string {
	args := []string{"urlfold"}
	if (r.Sampled == 0 || r.chosen) && r.Format != table.Parquet && r.Format != table.Avro {
		args = append(args, "--from", shellQuote(r.Format))
	}
	if r.encoding != "" || slices.Contains([]string{"html", "text", "sitemap", "feed", "mail"}, r.Format) { // their records cannot be rewritten
		args = append(args, "--to", "urls")
	}
	if o.URLField != "" {
		args = append(args, "--url-field", shellQuote(o.URLField))
	}
	for _, parts := range o.URLs {
		args = append(args, "--url", shellQuote(parts))
	}
	if o.Base != "" {
		args = append(args, "--base", shellQuote(o.Base))
	}
	if r.maxRecord != "" {
		args = append(args, "--max-record", r.maxRecord)
	}
	args = append(args, fileArg(r.File))
	switch r.Format {
	case table.Parquet:
		args = append(args, "--output", "FILE"+parquetExt)
	case table.Avro:
		args = append(args, "--output", "FILE"+avroExt)
	}
	return strings.Join(args, " ")
}

// escapesOf names the escapes that an access log uses.
func escapesOf(format string, head []byte) string {
	switch {
	case !slices.Contains([]string{"clf", "combined", "vhost_combined", "vhost_common"}, withoutPrefix(format)):
		return ""
	case bytes.Contains(head, []byte(`\"`)):
		return `\" (Apache)`
	case hexEscape().Match(head):
		return `\xHH (nginx, or Apache without quotes)`
	}
	return ""
}

// withoutPrefix returns the format of the lines after a prefix without escapes,
// as in syslog+combined.
func withoutPrefix(format string) string {
	prefix, lines, _ := strings.Cut(format, "+")
	if slices.Contains([]string{"syslog", "compose", "cri"}, prefix) {
		return lines
	}
	return format
}

var hexEscape = lazily(`\\x[0-9A-Fa-f]{2}`)

// fileArg returns the name of a file as one word of a POSIX shell. The word
// cannot be mistaken for an option.
func fileArg(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return shellQuote(name)
}

// shellQuote returns text as one word of a POSIX shell.
func shellQuote(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return !strings.ContainsRune("%+,-./:=@_", c) && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// A misfitSink is a dead-letter sink that notes the position of the first
// record that does not fit the format, and the length of the longest record
// that is too long. The dead letters must arrive in the order of the input.
type misfitSink struct {
	engine.Sink
	first   *misfit
	longest int64
}

// Submit implements [engine.Sink].
func (s *misfitSink) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	for letter := range bytes.Lines(t.Stream().Bytes) {
		if s.first != nil && !bytes.Contains(letter, tooLong) {
			continue
		}
		var m struct {
			misfit
			End int64 `json:"end"`
		}
		if err := json.Unmarshal(letter, &m); err != nil || !slices.Contains(misfitReasons, m.Reason) {
			continue
		}
		if s.first == nil {
			s.first = &m.misfit
		}
		if m.Reason == record.TooLong.String() {
			s.longest = max(s.longest, m.End-m.Offset)
		}
	}
	return s.Sink.Submit(ctx, b, t)
}

var tooLong = []byte(record.TooLong.String())

// misfitReasons are the reasons of records that do not fit the format.
var misfitReasons = []string{record.Unparsed.String(), record.NoField.String(), record.ColumnCount.String(), record.TooLong.String()}
