package cli

import (
	"encoding/json"
	"reflect"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/sources/file"
)

// A report is the JSON document that --summary writes. Scripts depend on its
// member names.
type report struct {
	Version  string         `json:"version"`
	ExitCode int            `json:"exit_code"`
	Seconds  float64        `json:"seconds"`
	Shard    *reportShard   `json:"shard,omitempty"` // absent without --shard
	Settings reportSettings `json:"settings"`
	Files    []reportFile   `json:"files"`
	Skipped  []file.Skipped `json:"skipped,omitempty"`
	Totals   reportTotals   `json:"totals"`
	Merged   *reportMerged  `json:"merged,omitempty"` // absent without --dedupe
}

// A reportShard names the share of the input that a process with --shard has
// processed.
type reportShard struct {
	Index int    `json:"index"` // from 0
	Of    int    `json:"of"`
	By    string `json:"by"`
}

type reportSettings struct {
	Format      string   `json:"format"`
	FormatFound bool     `json:"format_found"`
	Render      string   `json:"render"`
	Target      string   `json:"target"`
	Profile     string   `json:"profile"`
	Standard    string   `json:"standard"` // standard of the profile; KeyFunction names the standard of the keys
	Level       string   `json:"level"`
	KeyFunction string   `json:"key_function"`
	Policy      string   `json:"policy,omitempty"` // versions of the lists that the keys depend on
	Hash        string   `json:"hash"`
	Redact      bool     `json:"redact"`
	Where       string   `json:"where,omitempty"` // the expression that records must match
	Limit       int64    `json:"limit,omitempty"`
	Sample      string   `json:"sample,omitempty"`
	Unique      string   `json:"unique,omitempty"` // the mode of --dedupe
	By          string   `json:"by,omitempty"`     // what --dedupe compared
	Editions    editions `json:"editions"`         // editions of the built-in data
}

// reportBytes holds the sizes of one input or of all.
type reportBytes struct {
	Bytes           int64 `json:"bytes"`            // bytes of text
	CompressedBytes int64 `json:"compressed_bytes"` // as stored
}

// reportCounts holds the counts of [record.Stats] with the same names.
type reportCounts struct {
	Records    int64            `json:"records"`
	Emitted    int64            `json:"emitted"`
	Dropped    int64            `json:"dropped"`
	Filtered   int64            `json:"filtered"`   // left out by --where
	Duplicates int64            `json:"duplicates"` // left out by --dedupe
	Dead       int64            `json:"dead_lettered"`
	URLs       int64            `json:"urls"`
	Changed    int64            `json:"changed"`
	Flagged    int64            `json:"flagged"`
	Unwritten  int64            `json:"unwritten"` // URLs left unchanged because the record's fields cannot hold the normal form
	Skipped    int64            `json:"skipped"`   // links of HTML documents that are not URLs to follow
	Flags      map[string]int64 `json:"flags"`     // URLs by flag
	Rules      map[string]int64 `json:"rules"`     // URLs changed, by rule
	NoURL      int64            `json:"without_url"`
	Blank      int64            `json:"blank"`
	Oversize   int64            `json:"oversize"`
	Rejected   int64            `json:"rejected"`
	Rejects    map[string]int64 `json:"rejects"` // records by reason
}

type reportFile struct {
	Path        string `json:"path"`
	Position    *int   `json:"position,omitempty"` // position of the file among the inputs of all shards, from 0; absent without --shard
	Compression string `json:"compression"`
	Format      string `json:"format,omitempty"` // format of the records; absent if the input is empty
	reportBytes
	reportCounts
	Verdict   reportVerdict `json:"verdict"`
	LostBytes int64         `json:"lost_bytes"`        // bytes of a record truncated by damage
	Stopped   bool          `json:"stopped"`           // the input was not read to its end
	Limited   bool          `json:"limited,omitempty"` // --limit ended the reading, so the verdict is not known

	Verified   *reportRange      `json:"verified,omitempty"`   // absent for plain text
	Unverified *reportUnverified `json:"unverified,omitempty"` // absent if all records are verified
}

// A reportRange is a range of the records of a file. An empty range contains no
// lines.
type reportRange struct {
	Records   int64 `json:"records"`
	FirstLine int64 `json:"first_line,omitempty"`
	LastLine  int64 `json:"last_line,omitempty"`
	Bytes     int64 `json:"bytes"` // bytes of text
}

// reportUnverified describes the records that no checksum verifies.
type reportUnverified struct {
	reportRange
	Emitted bool     `json:"emitted"`                     // whether they are in the output
	Files   []string `json:"files,omitempty"`             // files with the raw records
	Misfit  int64    `json:"first_misfit_line,omitempty"` // first line that does not match the format, best effort
}

type reportVerdict struct {
	Kind   string `json:"kind"`
	Offset int64  `json:"offset"` // in the compressed file
	Detail string `json:"detail,omitempty"`
}

// damage reports whether some of the data is missing or may be wrong.
func (v *reportVerdict) damage() bool {
	return v.Kind != compress.OK.String() && v.Kind != compress.TrailingGarbage.String() && !v.unknown()
}

// unknown reports whether the format of the file is unknown.
func (v *reportVerdict) unknown() bool {
	return v.Kind == compress.UnsupportedFormat.String() || v.Kind == compress.UnsupportedEncoding.String()
}

type reportTotals struct {
	reportBytes
	reportCounts
	Damaged    int   `json:"damaged_files"`
	Unknown    int   `json:"unknown_files"`      // files whose format is not supported
	Unverified int64 `json:"unverified_records"` // unverified records of compressed files
	Abandoned  int64 `json:"abandoned"`          // records read but not written because of an interruption
}

// json returns the text of the report, which ends in a newline.
func (o *outcome) json(exitCode int) ([]byte, error) {
	r := report{
		Version: version(), ExitCode: exitCode, Seconds: o.elapsed.Seconds(),
		Settings: reportSettings{
			Format: o.formats.name(), FormatFound: o.formats.found(), Render: o.set.Render.Form, Target: o.set.Target, Profile: o.set.Profile,
			Standard: o.set.record.Normalizer.Profile().Standard.String(), Level: o.set.record.Level.String(),
			KeyFunction: o.set.record.Normalizer.KeyFunction(o.set.record.Level), Policy: o.lists(), Hash: o.set.Hash, Redact: o.set.hides(), Where: o.set.Where, Limit: o.set.Limit, Sample: o.set.Sample, Unique: o.set.Unique, By: o.set.By, Editions: builtin,
		},
		Files: []reportFile{}, Skipped: o.skipped,
		Totals: reportTotals{reportCounts: countsOf(&o.stats), Abandoned: o.snap.Ledger.Abandoned},
		Merged: o.merged,
	}
	if s := o.set.share; s.of > 0 {
		r.Shard = &reportShard{s.index, s.of, s.by}
	}
	for i := range o.reports {
		in := &o.reports[i]
		st := recordsOf(in)
		f := reportFile{
			Path: in.Path, Compression: in.Format.String(), Format: o.formats.format(in.Path),
			reportBytes: reportBytes{in.Bytes, in.CompressedBytes}, reportCounts: countsOf(&st),
			Verdict:   reportVerdict{Kind: in.Verdict.Kind.String(), Offset: in.Verdict.Offset, Detail: in.Verdict.Detail},
			LostBytes: in.Lost, Stopped: in.Stopped, Limited: in.Limited,
		}
		if o.set.share.of > 0 {
			f.Position = &in.Index
		}
		f.Verified, f.Unverified = rangesOf(in)
		r.Totals.addFile(&f)
		r.Files = append(r.Files, f)
	}
	return r.text()
}

// text returns the report as JSON, which ends in a newline.
func (r *report) text() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// addFile adds what the totals have beyond the counts of records.
func (t *reportTotals) addFile(f *reportFile) {
	t.Bytes += f.Bytes
	t.CompressedBytes += f.CompressedBytes
	if f.Verdict.damage() {
		t.Damaged++
	}
	if f.Verdict.unknown() {
		t.Unknown++
	}
	if f.Unverified != nil {
		t.Unverified += f.Unverified.Records
	}
}

// rangesOf returns the verified and the unverified records of a compressed
// file. Both are nil for plain text; the second is nil if all records are
// verified.
func rangesOf(r *file.Report) (*reportRange, *reportUnverified) {
	if r.Lane == nil || r.Format == compress.Plain {
		return nil, nil
	}
	verified, unverified := verifiedOf(r)
	first := &reportRange{Records: verified, Bytes: r.Verified.Bytes, LastLine: r.Verified.Lines, FirstLine: min(1, r.Verified.Lines)}
	if unverified == 0 {
		return first, nil
	}
	return first, &reportUnverified{
		reportRange: reportRange{
			Records: unverified, Bytes: r.Unverified.Bytes,
			FirstLine: r.Verified.Lines + 1, LastLine: r.Verified.Lines + r.Unverified.Lines,
		},
		Emitted: !r.Withheld, Files: r.Lane.UnverifiedFiles(), Misfit: r.Misfit,
	}
}

// noRecords holds the counts of a run without records.
var noRecords record.Stats

func countsOf(st *record.Stats) reportCounts {
	c := reportCounts{Flags: byName(st.Flags[:], flagName), Rules: byName(st.Rules[:], ruleName), Rejects: byName(st.Rejects[:], reasonName)}
	from := reflect.ValueOf(st).Elem()
	for f, to := range reflect.ValueOf(&c).Elem().Fields() {
		if to.CanInt() {
			to.SetInt(from.FieldByName(f.Name).Int())
		}
	}
	return c
}

// byName returns the nonzero counts by name.
func byName(ns []int64, name func(int) string) map[string]int64 {
	m := map[string]int64{}
	for _, c := range counts(ns, name) {
		m[c.name] = c.n
	}
	return m
}
