// Package units has the types of values that people write with a unit or keep
// to themselves: sizes and secrets. Components use them as fields of the structs
// that they are configured with. Durations are [time.Duration], written as Go
// writes them ("50ms", "1m30s").
package units
