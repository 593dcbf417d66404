// Package config reads what users write in YAML. It knows the codec and no
// component.
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
