// Package command has what all commands share: their arguments and completions, the
// exit codes and the errors that carry them, and what signals mean.
package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The exit codes. Scripts depend on them, so they never change.
const (
	ExitDone   = 0 // success
	ExitFatal  = 1 // fatal: an input or output failed for good, or a bug
	ExitUsage  = 2 // an error in the command line or in a file that it names
	ExitCut    = 3 // interrupted before everything was written
	ExitFailOn = 4 // finished, but a condition of --fail-on was met

	// ExitConfig is EX_CONFIG of sysexits.h. urlfold run exits with it instead
	// of ExitUsage if a restart cannot help, for example because the
	// configuration is invalid. A supervisor could not tell ExitUsage from a
	// crash, because the Go runtime exits with 2 when the process crashes.
	ExitConfig = 78
)

// ExitMeanings holds the meaning of each exit code for help texts.
var ExitMeanings = [...]struct {
	Code    int
	Meaning string
}{
	{ExitDone, "success"},
	{ExitFatal, "fatal error"},
	{ExitUsage, "usage error"},
	{ExitCut, "interrupted before all output was written"},
	{ExitFailOn, "finished but --fail-on matched"},
	{ExitConfig, "invalid configuration of run"},
}

// An Error is an error with an exit code. A nil Err means that the command
// has already reported the problem and only the exit code remains.
type Error struct {
	Code int
	Err  error
	Head string // heading of the list of joined errors; forces the list form; default: "N errors"
	See  string // last line; default for usage errors: the help of the command
	bare bool   // write no last line
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Usage returns err as a usage error, exit code 2.
func Usage(err error) error { return &Error{Code: ExitUsage, Err: err} }

// Usagef is Usage for an error with this text; see [fmt.Errorf].
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// Cut returns an error with this text about a run that a signal has stopped, exit code 3.
func Cut(text string) error { return &Error{Code: ExitCut, Err: errors.New(text)} }

// BadInput returns err, about a file named in the command line, with exit code
// 2. The message does not mention the help, which says nothing about files.
func BadInput(err error) error { return &Error{Code: ExitUsage, Err: err, bare: true} }

// BadConfig returns err, the errors in a configuration, with exit code 2.
func BadConfig(err error) error {
	return &Error{Code: ExitUsage, Err: err, See: "See 'urlfold help config' or 'urlfold init --schema' for the configuration keys."}
}

// maxErrors limits the number of errors that Text prints.
const maxErrors = 100

// Text returns the message for stderr: one line, or a list if err joins several
// errors. command is the command that was run, such as "urlfold check -c".
func (e *Error) Text(command string) string {
	all := slices.Compact(strings.Split(e.Err.Error(), "\n")) // closing an output repeats the error of a write
	lines := all[:min(len(all), maxErrors)]
	var b strings.Builder
	if len(lines) == 1 && e.Head == "" {
		fmt.Fprintf(&b, "urlfold: %s\n", lines[0])
	} else {
		fmt.Fprintf(&b, "urlfold: %s:\n", cmp.Or(e.Head, fmt.Sprintf("%d errors", len(all))))
		for _, l := range lines {
			fmt.Fprintf(&b, "  %s\n", l)
		}
		if more := len(all) - len(lines); more > 0 {
			fmt.Fprintf(&b, "  … and %d more\n", more)
		}
	}
	switch {
	case e.bare:
	case e.See != "":
		b.WriteString(e.See + "\n")
	case e.Code == ExitUsage && strings.Contains(lines[0], "--where: "):
		b.WriteString("See 'urlfold help expressions'.\n")
	case e.Code == ExitUsage:
		fmt.Fprintf(&b, "See '%s --help'.\n", command)
	}
	return b.String()
}

// Mistakes collects the errors in a command line, so that all of them are
// reported together.
type Mistakes struct{ errs []error }

// Add records err as an error in flag. It ignores nil, and it splits a joined
// error into its parts. If flag is empty, err names the flag itself.
func (m *Mistakes) Add(flag string, err error) {
	if err == nil {
		return
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if flag != "" {
			line = flag + ": " + line
		}
		m.errs = append(m.errs, errors.New(line))
	}
}

// Addf is Add for an error with this text; see [fmt.Errorf].
func (m *Mistakes) Addf(flag, format string, args ...any) { m.Add(flag, fmt.Errorf(format, args...)) }

// Err returns a usage error that joins all recorded errors, or nil if there are
// none.
func (m *Mistakes) Err() error {
	if len(m.errs) == 0 {
		return nil
	}
	return Usage(errors.Join(m.errs...))
}

// Within records an error in flag unless its value n is between 1 and most.
func (m *Mistakes) Within(flag string, n, most int) {
	if n < 1 || n > most {
		m.Addf(flag, "must be between 1 and %d", most)
	}
}

// Wrote returns err with the context that the output could not be written, or
// nil if err is nil.
func Wrote(err error) error {
	if err != nil {
		err = fmt.Errorf("write output: %w", err)
	}
	return err
}
