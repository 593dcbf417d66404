// Package config reads the YAML files that users write: configurations of the
// daemon, and profiles. It depends on the codec but on no source or sink, because
// it fills the configuration structs of sources and sinks by reflection. Package
// config/field documents the form of these structs.
//
// [Schema] and the reference in docs describe the same structs with the doc comments of
// the fields, which go generate collects in internal/ground/comments. Some tags of a
// field describe the command-line option for the same setting:
// internal/app/cli/flags.go explains these tags.
//
// # Errors
//
// An unknown key, a duplicate key, a YAML tag or a second document is an error.
// All errors in a file are reported together. Each is an [*Error] with line and
// column, and errors.Join joins them in the order of the file. No error quotes a
// value, because values may contain URLs and secrets. An error quotes an unknown
// key only if the text has the form of a key.
//
// # Limits
//
// A file that is longer than 64 KiB or nested more than 16 levels deep is rejected
// before it is parsed. A file whose aliases expand to more than 20,000 values is
// rejected before its values are read.
package config

// The files of this package:
//
//	load.go, file.go, codec.go, dedupe.go,         Load; File and its sections
//	format.go                                      how the records of a source are read
//	onerror.go, route.go, shadow.go
//	changed.go                                     whether the files of a configuration changed
//	moved.go                                       former keys and what they are called now
//	policy.go, profile.go, params.go               policies and profiles of keys
//	component.go                                   the settings of sources and sinks
//	yaml.go, anchor.go, decode.go, fields.go,      strict decoding with positions
//	scalar.go, path.go, warning.go, expand.go,
//	error.go
//	print.go, schema.go                            the configuration as text and JSON Schema

//go:generate go test ../internal/ground/comments -run ^TestModule$ -update
//go:generate go test . -run ^TestReferencePages$ -update
