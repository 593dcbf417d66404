// Package field holds the types of configuration values: sizes, secrets and the
// limits of compressed input. Sources and sinks use them as fields of their
// configuration structs. Durations are [time.Duration], written as Go writes
// them ("50ms", "1m30s").
//
// # Configuration structs
//
// Package config fills these structs by reflection, so a component needs to
// import at most this package. It reads the following tags:
//
//	yaml:"name"           the key; a field without this tag cannot be configured
//	yaml:"name,required"  the key must be present
//	enum:"a,b,c"          the accepted texts
//	path:"file"           a path relative to the folder of the configuration; path:"glob" for a pattern, path:"template" for a template of paths
//	min:"1" max:"64KiB"   bounds of a number, a size or a duration, of the bytes of a string, or of the elements of a list
//
// A field is a bool, an integer, a float, a string, a [Size], a [Secret], a
// [time.Duration], an [encoding.TextUnmarshaler], a struct of such fields, a
// pointer to such a struct (nil if the key is absent), a slice, or a map with
// string keys. An
// embedded struct without a tag is inlined. A struct that implements
// encoding.TextUnmarshaler can be written as a text or as a mapping:
// "on_finish: keep", "on_finish: {move_to: x}".
//
// If a key is absent, its field keeps the default that the component has set. If a
// pointer to the struct has a method Validate() error, package config calls this
// method once all of the struct has been read; see [Error]. The doc comment of a field
// is its description in the reference. All structs have names. No error repeats
// a value.
package field
