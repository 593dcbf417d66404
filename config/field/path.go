package field

import "strings"

// Literal returns a template of paths that stands for path alone: in templates,
// braces hold variables, so those of path become variables that stand for a
// brace. Not covered by the stability page.
func Literal(path string) string { return braces.Replace(path) }

var braces = strings.NewReplacer("{", "{{}", "}", "{}}")
