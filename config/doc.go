// Package config reads the YAML files that users write: configurations of the
// daemon, and profiles. It depends on the codec but on no source or sink: it
// fills their structs by reflection. Package config/field documents the form of
// these structs.
//
// [Schema] and [Reference] describe the same structs. Their texts are the doc
// comments of the fields, which go generate collects in internal/ground/comments. Other tags of
// a field describe the option of the command line for the same setting:
// internal/app/cli/flags.go explains them.
//
// # Errors
//
// Parsing is strict: an unknown key, a duplicate key, a
// tag or a second document is an error. All errors in a file are reported
// together, each as an [*Error] with line and column, joined by errors.Join in
// the order of the file. No error repeats a value, because values may contain
// URLs and secrets. An unknown key is repeated only if it has the form of a
// key.
//
// # Limits
//
// A file that is longer than 64 KiB or nested more than 16 levels deep is
// rejected without being parsed, and one whose aliases expand to more than 20,000
// values without being read.
package config

// The files of this package:
//
//	load.go, file.go, codec.go, dedupe.go,         Load; File and its sections
//	format.go                                      how the records of a source are read
//	onerror.go, route.go, shadow.go
//	changed.go                                     whether the files it was loaded from changed
//	moved.go                                       former keys and what they are called now
//	policy.go, profile.go, params.go               policies and profiles of keys
//	component.go                                   the settings of sources and sinks
//	yaml.go, anchor.go, decode.go, fields.go,      strict decoding with positions
//	scalar.go, warning.go, expand.go, error.go
//	print.go, schema.go, reference.go              the configuration as text, JSON Schema and
//	                                               Markdown

//go:generate go run ./internal/comments -o ../internal/ground/comments/comments.json . ./field ./connect ../sources/... ../sinks/... ../internal/...
