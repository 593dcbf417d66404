package config

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"sync"
)

//go:embed comments.json
var commentsJSON []byte

// comments returns the comments of structs and fields.
var comments = sync.OnceValue(func() map[string]string {
	var all map[string]string
	_ = json.Unmarshal(commentsJSON, &all) // a test of internal/comments compares it with the code
	return all
})

// commentOf returns the comment of a struct type.
func commentOf(t reflect.Type) string { return comments()[t.PkgPath()+"."+t.Name()] }
