package field

import "strings"

// Literal makes a template of paths, whose variables are in braces, of a path: the result
// stands for path alone. Not covered by the stability page.
func Literal(path string) string { return braces.Replace(path) }

var braces = strings.NewReplacer("{", "{{}", "}", "{}}")
