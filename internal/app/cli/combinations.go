package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/table"
	"github.com/urlfold/urlfold/sources/file"
)

// checkCombinations refuses options that make no sense together, or with the inputs. It
// needs the results of resolveRecord.
func (s *settings) checkCombinations(bad *command.Mistakes) {
	const (
		forStep = "cannot be combined with --lock-step, which writes a line to stdout for each line of stdin"
		twice   = " reads each input twice, which is not possible with stdin: name the input files"
	)
	render := s.record.Render
	known := s.Render.Form == "" || slices.Contains(recordconf.Renders(), s.Render.Form)
	cells := render == record.RenderTSV || render == record.RenderCSV
	rows := cells || render == record.RenderJSONL || render.HasColumns()
	fields := known && len(s.Fields) > 0 && !rows
	headed := s.Header == "yes"
	step, unique := s.LockStep != "", s.Unique != ""
	toFile := s.Output != "" && s.Output != stdoutPath
	stdin := len(s.paths) == 0 || slices.Contains(s.paths, stdinPath)
	part := map[bool]string{true: "--limit", false: "--sample"}[s.Limit != 0]
	partly := s.Limit != 0 || s.Sample != ""
	for _, c := range []struct {
		flag  string
		wrong bool
		text  string
	}{
		{"--lock-step", step && len(s.paths) > 0 && !slices.Equal(s.paths, []string{stdinPath}), "reads only stdin: remove the input files"},
		{"--output", step && toFile, forStep},
		{"--output-dir", step && s.OutputDir != "", forStep},
		{"--compress", step && s.Compress != autoCompress && s.Compress != "none", forStep},
		{"--dead-letter", step && s.Rejects != "", forStep},
		{"--summary", step && s.Report != "", forStep},
		{"--header", step && headed, forStep},
		{"--index", step && s.Index != "", forStep},
		{"--dedupe", step && unique, forStep},
		{"--shard", step && s.Share != "", forStep},
		{"--order", step && s.unordered(), forStep},
		{"--line-buffered", step && s.LineBuffered, forStep},

		{"--fields", fields, "requires --to jsonl, tsv, csv or parquet"},
		{"--to", known && !fields && render == record.RenderExtend && len(s.Extend) == 0 && s.uniqueNote() == (record.Note{}), "extend requires --extend NAME=FIELD, such as --extend url_norm=norm"},
		{"--extend", known && !fields && render != record.RenderExtend && len(s.Extend) > 0, "cannot be combined with --to " + render.String() + ", which does not write the records; use --to extend"},
		{"--header", headed && !cells, "requires --to tsv or csv"},

		{"--by", s.By != "" && !unique && !s.identified, "requires --dedupe"},
		{"--dedupe-url", s.KeyOf != "" && !unique && !s.identified, "requires --dedupe"},
		{"--dedupe", s.twice() && s.unordered(), s.Unique + " cannot be combined with --order none or lane: it needs the order of the records"},
		{"--dedupe", s.twice() && !s.unordered() && stdin, s.Unique + twice},
		{"--shard-by", s.ShardBy != "" && s.Share == "", "requires --shard"},

		{"--output", s.Compress == autoCompress && compress.Misleading(s.Output), "cannot write the compressed format of this extension: use .gz or .zst, or --compress none"},
		{"--compress", s.record.Render == record.RenderParquet && strings.Contains(s.Compress, ":"), "Parquet files have no compression levels: write --compress gzip or zstd"},
		{"--compress", s.record.Render == record.RenderArrow && s.Compress != autoCompress && s.Compress != "none", "Arrow files are written without compression: remove the option"},
		{"--from", s.From == table.Arrow && !step, "arrow is read only with --lock-step"},
		{"--lock-step", step && known && (s.From == table.Arrow) != (render == record.RenderArrow), "arrow must be both the input and the output format"},
		{"--lock-step", s.LockStep == stepChunks && s.From == table.Arrow, "with Arrow, urlfold answers batches, not chunks: write --lock-step without a value"},
		{"--output-dir", s.OutputDir != "" && s.Output != "", "cannot be combined with --output, which names one output for all inputs"},
		{"--output-dir", s.OutputDir != "" && s.unordered(), "cannot be combined with --order none or lane: each output keeps the order of its input"},
		{"--resume", s.Resume && s.OutputDir == "", "requires --output-dir"},
		{"--resume", s.Resume && unique, "cannot be combined with --dedupe, which compares the records of all inputs"},
		{"--resume", s.Resume && s.Rejects != "", "cannot be combined with --dead-letter, which one run writes for all inputs"},
		{"--in-place", s.InPlace && (s.OutputDir != "" || s.Output != ""), "cannot be combined with --output or --output-dir, which name other outputs"},
		{"--in-place", s.InPlace && known && !render.KeepsRecords(), "requires --to rewrite or extend: other outputs do not replace the records"},
		{"--in-place", s.InPlace && stdin, "not possible with stdin: name the input files"},
		{"--in-place", s.InPlace && s.Compress != autoCompress, "cannot be combined with --compress: each file keeps its compression"},
		{"--in-place", s.InPlace && s.unordered(), "cannot be combined with --order none or lane: each output keeps the order of its input"},
		{"--preserve", s.Preserve && !s.perInput(), "requires --output-dir or --in-place"},
		{"--sort", s.Sort != "" && step, forStep},
		{"--sort", s.Sort != "" && (s.perInput() || render.HasColumns()), "writes one output of text: cannot be combined with --output-dir, --in-place, --to parquet or arrow"},
		{"--sort", s.Sort != "" && s.unordered(), "cannot be combined with --order none or lane"},
		{"--sort", s.Sort != "" && s.OnDamage == "quarantine", "cannot be combined with --on-damage quarantine, which cuts the end off the output"},
		{"--sort", s.Sort != "" && s.divided(), "writes one output: cannot be combined with {vhost} and {site} in --output"},
		{"--output", s.divided() && objects.Is(s.Output), "{vhost} and {site} are not possible in the name of an object: write files"},
		{"--dry-run", s.DryRun && step, forStep},
		{part, partly && step, forStep},
		{part, partly && s.perInput(), "cannot be combined with --output-dir or --in-place, whose outputs have all records of their inputs"},
		{part, partly && s.twice(), "cannot be combined with --dedupe " + s.Unique + ", which reads each input twice"},
		{part, partly && s.OnDamage != file.OnDamageNames()[0], "cannot be combined with --on-damage " + s.OnDamage + ", which needs all records of an input in their order"},
		{"--sample", s.Sample != "" && known && render.KeepsRecords(), "cannot be combined with --to rewrite or extend, whose records need the headers of their file: use --to jsonl, tsv, csv, urls, keys or parquet"},
		{"--summary", s.Report == stdoutPath && !s.perInput() && !toFile && !s.DryRun, "stdout is already used for the records: write the report or the records to a file"},
		{"--dead-letter", s.Rejects == stdoutPath, "cannot be stdout, which is used for the records: name a file"},
		{"--on-damage", s.readsFiles() && stdin, s.OnDamage + twice},
	} {
		if c.wrong {
			bad.Add(c.flag, errors.New(c.text))
		}
	}
}
