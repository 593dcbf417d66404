// Package config reads what users write in YAML: the configuration of the daemon
// and profiles. It knows the codec and no component: the structs of sources and
// sinks are filled by reflection. Package config/field says what they look like.
//
// [Schema] and [Reference] describe the same structs. Their texts are the doc
// comments of the fields, which go generate collects in comments.json.
//
// # Mistakes
//
// Reading is strict: a key that does not exist, one that is written twice, an
// anchor, an alias, a tag or a second document is a mistake. All mistakes of a
// file are told at once, each an [*Error] with line and column, joined by
// errors.Join in the order of the file. No error repeats a value, since values
// may hold URLs and secrets; a key that does not exist is repeated only if it
// looks like one.
//
// # Limits
//
// A file that is longer than [MaxFile], or nested more than 16 deep, is refused
// before it is parsed.
package config

//go:generate go run ./internal/comments -o comments.json . ./field ./connect ../sources/... ../sinks/... ../internal/...
