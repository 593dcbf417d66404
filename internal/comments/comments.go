// Package comments has the doc comments of structs whose fields are keys of a
// configuration or options of the command line.
package comments

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed comments.json
var commentsJSON []byte

// all returns the doc comments of structs and fields by their names.
var all = sync.OnceValue(func() map[string]string {
	var m map[string]string
	_ = json.Unmarshal(commentsJSON, &m) // a test of config/internal/comments checks the file
	return m
})

// Of returns the doc comment of PACKAGE.STRUCT or PACKAGE.STRUCT.FIELD on one line.
func Of(name string) string { return all()[name] }
