// Package comments has the doc comments of structs whose fields are keys of a
// configuration or options of the command line.
package comments

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

//go:embed comments.json
var commentsJSON string

// lines returns the lines of the comments, sorted. Every start of the program needs
// some of them, and to decode all would take longer than to read a short input.
var lines = sync.OnceValue(func() []string {
	return strings.Split(strings.Trim(commentsJSON, "{\n}"), "\n")
})

// Of returns the doc comment of PACKAGE.STRUCT or PACKAGE.STRUCT.FIELD on one line, or
// "".
func Of(name string) (text string) {
	key := "\t\"" + name + `": `
	i, ok := slices.BinarySearchFunc(lines(), key, func(line, key string) int {
		return strings.Compare(line[:min(len(line), len(key))], key)
	})
	if ok {
		_ = json.Unmarshal([]byte(strings.TrimSuffix(lines()[i][len(key):], ",")), &text) // a test checks the file
	}
	return text
}
