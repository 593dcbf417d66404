package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// The exit codes. They are a contract: scripts depend on them.
const (
	exitDone   = 0 // done
	exitFatal  = 1 // fatal: nothing more could be read or written, or a bug
	exitUsage  = 2 // a mistake in the command line or in a file that it names
	exitCut    = 3 // interrupted before everything was written
	exitFailOn = 4 // finished, but what --fail-on asks for was met
)

// An exitError is an error that knows the exit code that it means. Without an
// error in it, all was said already.
type exitError struct {
	code int
	err  error
	head string // of the list of what err joins, and then it is one always; default: how many mistakes there are
	see  string // the last line; default: that of a usage error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage makes err a mistake of the user's.
func usage(err error) error { return &exitError{code: exitUsage, err: err} }

// badConfig makes err the mistakes in a configuration.
func badConfig(err error) error {
	return &exitError{code: exitUsage, err: err, see: "docs/reference/config.md explains the keys, and so does the schema that 'urlfold schema' prints."}
}

// text is what stderr is told: one line, or a list if err joins several.
func (e *exitError) text() string {
	lines := strings.Split(e.err.Error(), "\n")
	var b strings.Builder
	if len(lines) == 1 && e.head == "" {
		fmt.Fprintf(&b, "urlfold: %s\n", lines[0])
	} else {
		fmt.Fprintf(&b, "urlfold: %s:\n", cmp.Or(e.head, fmt.Sprintf("%d mistakes", len(lines))))
		for _, l := range lines {
			fmt.Fprintf(&b, "  %s\n", l)
		}
	}
	switch {
	case e.see != "":
		b.WriteString(e.see + "\n")
	case e.code == exitUsage:
		b.WriteString("See 'urlfold --help'.\n")
	}
	return b.String()
}

// mistakes collects what is wrong with a command line, so that all of it can be
// told at once.
type mistakes struct{ errs []error }

// add notes what is wrong with a flag, unless err is nil. An error that joins
// several becomes as many lines. An empty flag means that err names it.
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

// err returns nil, or a usage error that joins all mistakes.
func (m *mistakes) err() error {
	if len(m.errs) == 0 {
		return nil
	}
	return usage(errors.Join(m.errs...))
}
