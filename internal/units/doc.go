// Package units has the types of values that people write with a unit or keep
// to themselves: sizes and secrets. Components use them as fields of the structs
// that they are configured with. Durations are [time.Duration], written as Go
// writes them ("50ms", "1m30s").
//
// # Structs of configuration
//
// Package config fills these structs by reflection, so that a component needs
// this package at most. What it goes by:
//
//	yaml:"name"           the key; fields without the tag are none
//	yaml:"name,required"  it must be there
//	enum:"a,b,c"          the texts that are taken
//	min:"1" max:"64KiB"   bounds: of a number, size or duration, of the bytes of a string, of the elements of a list
//
// A field is a bool, a whole or broken number, a string, a Size, a Secret, a
// time.Duration, an [encoding.TextUnmarshaler], a struct of such, a pointer to one
// (nil unless written), a slice, or a map with strings as keys. An embedded struct
// without a tag is inline. A struct that is a TextUnmarshaler too is read from a
// text or from a mapping, as it comes: "on_finish: keep", "on_finish: {move_to: x}".
//
// What is not written stays as the component has filled it in. A method
// Validate() error of a pointer to a struct is called when all of the struct could
// be read; see [FieldError]. The doc comment of a field is its description in the
// reference, and the test of it fails if there is none. Structs have names, for
// the same reason. No error repeats a value.
package units
