package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The exit codes. Scripts depend on them, so they never change.
const (
	exitDone   = 0 // success
	exitFatal  = 1 // fatal: an input or output failed for good, or a bug
	exitUsage  = 2 // an error in the command line or in a file that it names
	exitCut    = 3 // interrupted before everything was written
	exitFailOn = 4 // finished, but a condition of --fail-on was met

	// In place of exitUsage, urlfold run exits with EX_CONFIG of sysexits.h for
	// configurations that no restart mends, because the Go runtime exits with 2
	// when the process crashes.
	exitConfig = 78
)

// exitMeanings holds the meaning of each exit code for help texts.
var exitMeanings = [...]struct {
	code    int
	meaning string
}{
	{exitDone, "success"},
	{exitFatal, "fatal error"},
	{exitUsage, "usage error"},
	{exitCut, "interrupted before all output was written"},
	{exitFailOn, "finished but --fail-on matched"},
	{exitConfig, "invalid configuration of run"},
}

// An exitError is an error with an exit code. A nil err means that the command
// has already reported the problem and only the exit code remains.
type exitError struct {
	code int
	err  error
	head string // heading of the list of joined errors; forces the list form; default: "N errors"
	see  string // last line; default for usage errors: the help of the command
	bare bool   // no last line
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage returns err as a usage error, exit code 2.
func usage(err error) error { return &exitError{code: exitUsage, err: err} }

// badInput returns err, about a file named in the command line, with exit code
// 2. The message does not mention the help, which says nothing about files.
func badInput(err error) error { return &exitError{code: exitUsage, err: err, bare: true} }

// badConfig returns err, the errors in a configuration, with exit code 2.
func badConfig(err error) error {
	return &exitError{code: exitUsage, err: err, see: "See docs/reference/config.md or 'urlfold schema' for the configuration keys."}
}

// maxErrors is the number of errors of a list that are printed.
const maxErrors = 100

// text returns the message for stderr: one line, or a list if err joins several
// errors. command is the command that was run, such as "urlfold validate".
func (e *exitError) text(command string) string {
	all := slices.Compact(strings.Split(e.err.Error(), "\n")) // closing an output repeats the error of a write
	lines := all[:min(len(all), maxErrors)]
	var b strings.Builder
	if len(lines) == 1 && e.head == "" {
		fmt.Fprintf(&b, "urlfold: %s\n", lines[0])
	} else {
		fmt.Fprintf(&b, "urlfold: %s:\n", cmp.Or(e.head, fmt.Sprintf("%d errors", len(all))))
		for _, l := range lines {
			fmt.Fprintf(&b, "  %s\n", l)
		}
		if more := len(all) - len(lines); more > 0 {
			fmt.Fprintf(&b, "  … and %d more\n", more)
		}
	}
	switch {
	case e.bare:
	case e.see != "":
		b.WriteString(e.see + "\n")
	case e.code == exitUsage:
		fmt.Fprintf(&b, "See '%s --help'.\n", command)
	}
	return b.String()
}

// mistakes collects the errors in a command line, so that all of them are
// reported at once.
type mistakes struct{ errs []error }

// add records err as an error in flag. It ignores nil, and it splits a joined
// error into its parts. If flag is empty, err names the flag itself.
func (m *mistakes) add(flag string, err error) {
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

// err returns a usage error that joins all recorded errors, or nil if there are
// none.
func (m *mistakes) err() error {
	if len(m.errs) == 0 {
		return nil
	}
	return usage(errors.Join(m.errs...))
}

// within records an error in flag unless its value n is between 1 and most.
func (m *mistakes) within(flag string, n, most int) {
	if n < 1 || n > most {
		m.add(flag, fmt.Errorf("must be between 1 and %d", most))
	}
}

// wrote returns err, of writing the output, or nil if it is nil.
func wrote(err error) error {
	if err != nil {
		err = fmt.Errorf("write output: %w", err)
	}
	return err
}
