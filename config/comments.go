package config

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"sync"
)

//go:embed comments.json
var commentsJSON []byte

// comments returns the doc comments of structs and fields by their names.
var comments = sync.OnceValue(func() map[string]string {
	var all map[string]string
	_ = json.Unmarshal(commentsJSON, &all) // a test of internal/comments checks the file
	return all
})

// commentOf returns the doc comment of a struct type.
func commentOf(t reflect.Type) string { return comments()[t.PkgPath()+"."+t.Name()] }
