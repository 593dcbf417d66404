package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/chaos"
)

// specFlags defines the flags of a Spec.
func specFlags(fs *flag.FlagSet) (spec *chaos.Spec) {
	spec = &chaos.Spec{Format: chaos.Lines}
	fs.Uint64Var(&spec.Seed, "seed", 1, "seed of the records")
	fs.Uint64Var(&spec.Poison, "poison", 0, "distance between records that cannot be parsed; 0: none")
	fs.Func("format", "record format: lines or combined (default lines)", func(s string) (err error) {
		spec.Format, err = chaos.ParseFormat(s)
		return err
	})
	return spec
}

func generate(_ context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("generate", flag.ContinueOnError)
	fs.SetOutput(stderr)
	spec := specFlags(fs)
	kind := fs.String("kind", string(chaos.Plain), "storage format: plain, gzip (one member), members, zstd (one frame), frames or s2")
	lane := fs.Uint64("lane", 0, "number of the lane")
	size := fs.Int64("bytes", 1<<20, "approximate size of the text in bytes")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return errors.New("generate: exactly one file name is required")
	}
	n, err := spec.WriteFile(fs.Arg(0), chaos.Kind(*kind), *lane, *size)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "-lane %d=%d\n", *lane, n)
	return err
}

func check(_ context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	fs.SetOutput(stderr)
	spec := specFlags(fs)
	lanes := map[uint64]uint64{}
	fs.Func("lane", "`LANE=RECORDS`, the number of records of a lane as printed by generate; repeatable", func(s string) error {
		id, n, ok := strings.Cut(s, "=")
		lane, err := strconv.ParseUint(id, 10, 64)
		if err != nil || !ok {
			return errors.New("must be LANE=RECORDS")
		}
		lanes[lane], err = strconv.ParseUint(n, 10, 64)
		return err
	})
	asJSON := fs.Bool("json", false, "print a JSON object instead of a line")
	if err := fs.Parse(args); err != nil {
		return err
	}
	o := chaos.NewOracle(*spec)
	for id, n := range lanes {
		o.Expect(id, n)
	}
	for _, path := range fs.Args() {
		if _, err := o.ReadTree(path, false); err != nil {
			return err
		}
	}
	r := o.Result()
	if err := printResult(stdout, &r, *asJSON); err != nil {
		return err
	}
	if !r.Right() {
		return errFailed
	}
	return nil
}

func printResult(w io.Writer, r *chaos.Result, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	_, err := fmt.Fprintln(w, r)
	return err
}
