package field

import "strings"

// Literal returns path as a template of paths, with its braces escaped, because
// a template has variables in braces. Not covered by the stability page.
func Literal(path string) string { return braces.Replace(path) }

var braces = strings.NewReplacer("{", "{{}", "}", "{}}")
