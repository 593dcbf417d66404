// Urlfold-chaos runs experiments that test that no record is lost: it kills the
// program, truncates its inputs and flips bits in them, rotates them while they
// are read, fills the disk and changes the rules, and then counts the records
// in the outputs.
//
//	urlfold-chaos list
//	urlfold-chaos run [-short] [-seed N] [-dir DIR] [-bytes N] [-kills N] [-json] [NAME...]
//	urlfold-chaos generate [-seed N] [-format F] [-kind K] [-lane N] [-bytes N] FILE
//	urlfold-chaos check [-seed N] [-format F] [-poison N] -lane ID=RECORDS... PATH...
//
// The exit code is 1 if an experiment fails or check finds something wrong, and
// 2 after a mistake in the command line.
//
// # Files
//
//	main.go, runcmd.go, checkcmd.go, nightly.go    the commands, and the list of experiments
//	lab.go, setup.go, gotest.go, sys_*.go,         what experiments share
//	namespace_*.go
//	kill.go, stop.go, paths.go, power.go           processes that end
//	damage.go, damaged.go, bomb.go, quarantine.go, inputs that are damaged or hostile
//	hostile.go
//	rotate.go, identity.go, lookalike.go           files that rotate or look alike
//	state.go, statelog.go, disk.go, descriptors.go, damaged state; what runs out
//	slow.go
//	reload.go, mutate.go                           new configurations; defects in the code
//	brokers.go, dedupe.go, poison.go, refuse.go    brokers
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
	// Short inputs have restart points, too. The processes that this one
	// starts inherit the variable.
	if err := os.Setenv("URLFOLD_RESTART_POINT_EVERY", fmt.Sprint(restartEvery)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

var (
	errUsage  = errors.New("usage: urlfold-chaos list | run | generate | check; -h after a command prints its flags")
	errFailed = errors.New("some results are wrong")
)

// command executes the command in args and returns the exit code.
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
	_, _ = fmt.Fprintln(stderr, "urlfold-chaos:", err) // an error here could not be reported anywhere
	return 2
}
