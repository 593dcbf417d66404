package service

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
)

// This file finds the configuration of a command: in a file, on stdin, or, for run, in
// its options.

// A Detector returns the format of the records in the files that a path or glob names.
type Detector func(ctx context.Context, input string) (format string, err error)

// systemConfig is the configuration of packages and images.
const systemConfig = "/etc/urlfold/urlfold.yaml"

// configFile returns file, or if that is empty the configuration that $URLFOLD_CONFIG
// names, or systemConfig if it exists.
func configFile(file string) string {
	file = cmp.Or(file, os.Getenv("URLFOLD_CONFIG"))
	if _, err := os.Stat(systemConfig); file == "" && err == nil {
		return systemConfig
	}
	return file
}

// A loader loads a configuration. If it can be loaded again, the result can differ.
type loader func() (*config.File, error)

// loaderOf returns a loader of file, a result of configFile. It reads stdin once.
func loaderOf(c *daemon.Catalog, file string, stdin io.Reader) (loader, error) {
	switch file {
	case "":
		return nil, command.Usagef("missing required option: -c/--config FILE (or set URLFOLD_CONFIG)")
	case "-":
		text, err := io.ReadAll(io.LimitReader(stdin, maxStdin))
		if err != nil {
			return nil, fmt.Errorf("read the configuration on stdin: %w", err)
		}
		return textLoader(c, "stdin", text), nil
	}
	return func() (*config.File, error) { return c.Load(file) }, nil
}

// maxStdin is more than the maximum size of a configuration in bytes, so that
// package config reports the error about a longer configuration.
const maxStdin = 1 << 20

// textLoader returns a loader of a text with this name.
func textLoader(c *daemon.Catalog, name string, text []byte) loader {
	return func() (*config.File, error) { return config.Parse(name, text, c.Types(), config.OS()) }
}

// loadConfig loads the configuration of a command from file, which may be empty.
func loadConfig(c *daemon.Catalog, file string, stdin io.Reader) (*config.File, error) {
	load, err := loaderOf(c, configFile(file), stdin)
	if err != nil {
		return nil, err
	}
	return load.load()
}

// load calls l. An error in a configuration gets the exit code for such errors.
func (l loader) load() (*config.File, error) {
	f, err := l()
	if err != nil {
		return nil, command.BadConfig(err)
	}
	return f, nil
}

// ofRun are the options of run that can be combined with a configuration file.
var ofRun = []string{"config", "until-eof", "watch", "dry-run", "color"}

// loader returns the loader of the file that o names, or of the configuration that init
// would write for the input in args.
func (o *runFlags) loader(cmd *cobra.Command, c *daemon.Catalog, detect Detector, args []string) (loader, error) {
	if len(args) == 0 {
		var bad command.Mistakes
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if !slices.Contains(ofRun, f.Name) {
				bad.Addf("--"+f.Name, "requires INPUT; a run with -c takes this setting from the configuration")
			}
		})
		if err := bad.Err(); err != nil {
			return nil, err
		}
		o.file = configFile(o.file)
		return loaderOf(c, o.file, cmd.InOrStdin())
	}
	if o.file != "" || o.watch {
		return nil, command.Usagef("INPUT takes the place of a configuration: leave out --config and --watch")
	}
	p := &o.plan
	p.input, p.local = args[0], true
	if err := p.detect(cmd.Context(), detect); err != nil {
		return nil, err
	}
	if p.dataDir == "" {
		var err error
		if p.dataDir, err = stateDir(p.input, p.output); err != nil {
			return nil, err
		}
	}
	if err := p.ask(cmd.InOrStdin(), io.Discard, false, func() string { return "" }); err != nil {
		return nil, err
	}
	text, err := p.text()
	if err != nil {
		return nil, command.Usage(err)
	}
	if !o.dryRun {
		if err := os.MkdirAll(p.dataDir, 0o700); err != nil {
			return nil, err
		}
	}
	return textLoader(c, "the options", []byte(text)), nil
}

// stateDir returns the folder for the positions of a run from input to output. The
// folder is in the user's state folder, so a run continues where the last run with the
// same input and output stopped.
func stateDir(input, output string) (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", command.Usagef("no folder for positions: %w; set --data-dir", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	var places strings.Builder
	for _, text := range []string{input, output} {
		if p, err := parsePlace(text); err == nil && p.kind == "file" {
			text, _ = filepath.Abs(text) // a relative path suffices if there is no working directory
		}
		places.WriteString(text + "\x00")
	}
	return filepath.Join(base, "urlfold", fmt.Sprintf("%016x", xxh3.HashString(places.String()))), nil
}
