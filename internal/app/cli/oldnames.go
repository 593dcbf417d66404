package cli

import (
	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// oldNames maps the names that options had before 0.1.0 to their current names.
var oldNames = map[string]string{
	"format":      "--from",
	"render":      "--to",
	"unique":      "--dedupe",
	"key-of":      "--dedupe-url",
	"rejects":     "--dead-letter",
	"report":      "--summary",
	"jobs":        "--workers",
	"unordered":   "--order none",
	"no-header":   "--input-header=no",
	"param":       "--param-style",
	"per-zone":    "--timezone-out",
	"no-progress": "--progress never",
	"json":        "--to json or --to jsonl",
	"as":          "--to",
	"rows":        "--count",
	"top":         "--count",
	"fail":        "--fail-on",
}

// renamed returns the usage error for an option that has a new name, or nil.
func renamed(name string) error {
	if now := oldNames[name]; now != "" {
		return command.Usagef("--%s was renamed: use %s", name, now)
	}
	return nil
}
