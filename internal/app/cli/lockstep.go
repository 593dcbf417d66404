package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/lockstep"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// This file implements --lock-step: one line or batch out for each one in, for programs
// that run urlfold as a coprocess.

// The values of --lock-step.
const (
	stepLines  = "lines"
	stepChunks = "chunks" // send_chunk_header of ClickHouse
)

// aheadLimit is the default of --max-memory with --lock-step.
const aheadLimit = 64 * field.MiB

// stallTime is how long answers wait for the caller before a warning.
const stallTime = 10 * time.Second

// resolveLockStep sets the defaults of --lock-step: no format can be detected
// before the first line is answered.
func (s *settings) resolveLockStep() {
	if s.LockStep == "" {
		return
	}
	if s.From == "" && s.Delimiter == "" {
		s.From = "lines"
	}
	if s.From == table.Arrow && s.Render.Form == "" {
		s.Render.Form = record.RenderArrow.String()
	}
	if s.From == "tsv" { // ClickHouse writes tsv with backslash escapes and without quotes
		if s.URLField == "" && len(s.URLs) == 0 {
			s.URLField = "1"
		}
		if s.Dialect == "" && s.Quote == "" && s.Escape == "" {
			s.Dialect, s.Quote = "backslash", "none"
		}
		s.InputHeader = "no"
	}
	if _, given := s.late["max-memory"]; !given {
		s.MaxMemory = aheadLimit
	}
}

// runLockStep answers each line of stdin with a line on stdout, or each batch with
// a batch.
func runLockStep(cmd *cobra.Command, set *settings) error {
	job, err := set.lockStepJob()
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	c := lockstep.Config{
		Job: job, Empty: set.emptyAnswer(job), Chunks: set.LockStep == stepChunks,
		MaxRecord: int(set.MaxRecord), MaxAhead: int(set.MaxMemory), StallTime: stallTime,
		Stalled: func() {
			_, _ = fmt.Fprintf(stderr, "urlfold: more than %s of answers wait for the caller, which does not read them: if it reads only after it has written all of its lines, raise --max-memory\n",
				terminal.FormatSize(int64(set.MaxMemory))) // an error of stderr cannot be reported
		},
	}
	sig := command.Watch(cmd.Context())
	defer sig.Stop()
	type result struct {
		stats lockstep.Stats
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		if in, out := cmd.InOrStdin(), terminal.Writer(cmd.OutOrStdout()); set.From == table.Arrow {
			r.stats, r.err = lockstep.RunBatches(in, out, set.URLField, c)
		} else {
			r.stats, r.err = lockstep.Run(in, out, c)
		}
		done <- r
	}()
	select {
	case r := <-done:
		return set.endLockStep(stderr, r.stats, r.err)
	case <-sig.Soft.Done():
		return command.Cut("interrupted before the end of the input")
	}
}

// endLockStep reports errors only. Other messages would be noise in the log of the
// caller.
func (s *settings) endLockStep(stderr io.Writer, st lockstep.Stats, err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return nil // the caller has gone
	}
	if st.Refused > 0 && !s.Quiet {
		_, _ = fmt.Fprintf(stderr, "urlfold: %s answered with an empty line, because the answer would contain line feeds\n",
			terminal.Plural(st.Refused, "line", "lines")) // an error of stderr cannot be reported
	}
	switch {
	case err != nil:
		return &command.Error{Code: command.ExitFatal, Err: fmt.Errorf("--lock-step: %w", err)}
	case slices.Contains(s.FailOn, "rejected") && st.Rejected+st.Refused > 0:
		return &command.Error{Code: command.ExitFailOn}
	}
	return nil
}

// lockStepJob returns the job, or a usage error if it cannot answer each line
// with one line.
func (s *settings) lockStepJob() (*record.Job, error) {
	job, err := record.New(s.record)
	if err != nil {
		return nil, command.Usage(flagNames(err))
	}
	switch keeps := s.record.Render == record.RenderRewrite || s.record.Render == record.RenderExtend; {
	case !job.LineByLine():
		return nil, command.Usagef("--lock-step: not possible with the format %s, in which a line is not a record by itself; convert the records to jsonl or tsv, without a header", s.From)
	case s.record.Render == record.RenderParquet:
		return nil, command.Usagef("--lock-step: not possible with --to parquet, which does not write lines")
	case s.record.Target == record.TargetAll && !keeps:
		return nil, command.Usagef("--lock-step: not possible with --target all, which writes two lines for a record with a referer: use --target request or --target referer")
	}
	return job, nil
}

// emptyAnswer returns the answer to a line without a result: a line of as many
// empty fields as other answers have, or an empty object.
func (s *settings) emptyAnswer(job *record.Job) []byte {
	keeps := s.record.Render == record.RenderRewrite || s.record.Render == record.RenderExtend
	switch render := s.record.Render; {
	case render == record.RenderJSONL, keeps && (s.From == "jsonl" || record.IsJSONLog(s.From)):
		return []byte("{}\n")
	case render == record.RenderKeys:
		return []byte("\t\n")
	case render == record.RenderTSV:
		return append(bytes.Repeat([]byte{'\t'}, bytes.Count(job.Header(), []byte{'\t'})), '\n')
	case render == record.RenderCSV:
		return append(bytes.Repeat([]byte{','}, bytes.Count(job.Header(), []byte{','})), '\n')
	}
	return []byte{'\n'}
}
