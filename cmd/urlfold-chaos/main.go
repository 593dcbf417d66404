// Urlfold-chaos runs the experiments that show that no record gets lost: it kills the
// program, cuts and flips its inputs, rotates them below it, fills its disk and changes
// its rules, and counts what comes out.
//
//	urlfold-chaos list
//	urlfold-chaos run [-short] [-seed N] [-dir DIR] [-bytes N] [-json] [NAME...]
//	urlfold-chaos generate [-seed N] [-format F] [-kind K] [-lane N] [-bytes N] FILE
//	urlfold-chaos check [-seed N] [-format F] [-poison N] -lane ID=RECORDS... PATH...
//
// It exits with 1 if one of the experiments fails or a check finds something wrong, and
// with 2 after a mistake in the command line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

var (
	errUsage  = errors.New("usage: urlfold-chaos list | run | generate | check; with -h each tells its flags")
	errFailed = errors.New("not all is as it has to be")
)

// command is what the program does with args. It returns the exit code.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	commands := map[string]func(context.Context, []string, io.Writer, io.Writer) error{
		"list": list, "run": run, "generate": generate, "check": check,
	}
	err := errUsage
	if len(args) > 0 && commands[args[0]] != nil {
		err = commands[args[0]](ctx, args[1:], stdout, stderr)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errFailed):
		return 1
	}
	_, _ = fmt.Fprintln(stderr, "urlfold-chaos:", err) // there is nobody else to tell
	return 2
}
