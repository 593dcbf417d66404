package main

import (
	"encoding/json"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/sources/file"
)

// A report is what --report writes. Its names are a contract.
type report struct {
	Version  string         `json:"version"`
	ExitCode int            `json:"exit_code"`
	Seconds  float64        `json:"seconds"`
	Settings reportSettings `json:"settings"`
	Files    []reportFile   `json:"files"`
	Totals   reportTotals   `json:"totals"`
}

type reportSettings struct {
	Format      string `json:"format"`
	FormatFound bool   `json:"format_found"`
	Render      string `json:"render"`
	Target      string `json:"target"`
	Profile     string `json:"profile"`
	Reading     string `json:"reading"` // of the profile; that of the keys is in their function
	Level       string `json:"level"`
	KeyFunction string `json:"key_function"`
	Policy      string `json:"policy,omitempty"` // versions of the lists that the keys depend on
	Hash        string `json:"hash"`
	Redact      bool   `json:"redact"`
}

// reportCounts is what happened to records.
type reportCounts struct {
	Bytes           int64            `json:"bytes"`            // of text
	CompressedBytes int64            `json:"compressed_bytes"` // as stored
	Records         int64            `json:"records"`
	Emitted         int64            `json:"emitted"`
	Dropped         int64            `json:"dropped"`
	Dead            int64            `json:"dead_lettered"`
	URLs            int64            `json:"urls"`
	Changed         int64            `json:"changed"`
	Flagged         int64            `json:"flagged"`
	Flags           map[string]int64 `json:"flags"` // URLs by flag
	Rules           map[string]int64 `json:"rules"` // URLs that each rule has changed
	NoURL           int64            `json:"without_url"`
	Blank           int64            `json:"blank"`
	Oversize        int64            `json:"oversize"`
	Rejected        int64            `json:"rejected"`
	Rejects         map[string]int64 `json:"rejects"` // records by reason
}

type reportFile struct {
	Path        string `json:"path"`
	Compression string `json:"compression"`
	reportCounts
	Verdict   reportVerdict `json:"verdict"`
	LostBytes int64         `json:"lost_bytes"` // of a record that was cut by damage
	Stopped   bool          `json:"stopped"`    // not read to its end
}

type reportVerdict struct {
	Kind   string `json:"kind"`
	Offset int64  `json:"offset"` // in the file as stored
	Detail string `json:"detail,omitempty"`
}

type reportTotals struct {
	reportCounts
	Damaged   int   `json:"damaged_files"`
	Abandoned int64 `json:"abandoned"` // records that were read and not written, because of an interruption
}

// json returns the report of a run.
func (o *outcome) json(exitCode int) ([]byte, error) {
	r := report{
		Version: version(), ExitCode: exitCode, Seconds: o.elapsed.Seconds(),
		Settings: reportSettings{
			Format: o.format, FormatFound: o.found, Render: o.set.render, Target: o.set.target, Profile: o.set.profile,
			Reading: o.set.record.Normalizer.Profile().Reading.String(), Level: o.set.record.Level.String(),
			KeyFunction: o.set.record.Normalizer.KeyFunction(o.set.record.Level), Policy: o.lists(), Hash: o.set.hash.String(), Redact: o.set.redact,
		},
		Files:  []reportFile{},
		Totals: reportTotals{reportCounts: countsOf(&o.snap.Stats), Damaged: len(o.damaged()), Abandoned: o.snap.Ledger.Abandoned},
	}
	for i := range o.reports {
		f := fileOf(&o.reports[i])
		r.Totals.Bytes += f.Bytes
		r.Totals.CompressedBytes += f.CompressedBytes
		r.Files = append(r.Files, f)
	}
	text, err := json.MarshalIndent(&r, "", "  ")
	return append(text, '\n'), err
}

func fileOf(r *file.Report) reportFile {
	st := recordsOf(r)
	f := reportFile{
		Path: r.Path, Compression: r.Format.String(), reportCounts: countsOf(&st),
		Verdict:   reportVerdict{Kind: r.Verdict.Kind.String(), Offset: r.Verdict.Offset, Detail: r.Verdict.Detail},
		LostBytes: r.Lost, Stopped: r.Stopped,
	}
	f.Bytes, f.CompressedBytes = r.Bytes, r.CompressedBytes
	return f
}

func countsOf(st *record.Stats) reportCounts {
	c := reportCounts{
		Records: st.Records, Emitted: st.Emitted, Dropped: st.Dropped, Dead: st.Dead,
		URLs: st.URLs, Changed: st.Changed, Flagged: st.Flagged, NoURL: st.NoURL, Blank: st.Blank,
		Oversize: st.Oversize, Rejected: st.Rejected,
		Flags: map[string]int64{}, Rules: map[string]int64{}, Rejects: map[string]int64{},
	}
	for f, n := range st.Flags {
		if n != 0 {
			c.Flags[codec.Flag(f).String()] = n
		}
	}
	for h, n := range st.Rules {
		if n != 0 {
			c.Rules[codec.Hit(h).String()] = n
		}
	}
	for r, n := range st.Rejects {
		if n != 0 {
			c.Rejects[record.Reason(r).String()] = n
		}
	}
	return c
}
