//go:build !linux

package file

import (
	"os"
	"reflect"
	"time"
)

// A fileID identifies a file on this machine while it exists.
type fileID struct{ dev, ino uint64 }

// identity returns the id of a file and the time of its last change in
// nanoseconds of Unix time. On a system without file ids, the id is derived
// from the name, and files are identified by their content alone.
func identity(fi os.FileInfo) (id fileID, changed int64) {
	changed = fi.ModTime().UnixNano()
	v := reflect.Indirect(reflect.ValueOf(fi.Sys()))
	if v.Kind() != reflect.Struct || !v.FieldByName("Ino").IsValid() {
		return fileID{0, nameID(fi.Name())}, changed
	}
	return fileID{number(v.FieldByName("Dev")), number(v.FieldByName("Ino"))}, changed
}

func number(v reflect.Value) uint64 {
	if v.CanInt() {
		return uint64(v.Int())
	}
	return v.Uint()
}

// nameID returns a number derived from a name.
func nameID(name string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// born returns 0: the creation time is not available.
func born(*os.File) int64 { return 0 }

// stampLag returns how far the clock from which the system takes file times lags
// behind, if that is known.
func stampLag() time.Duration { return 0 }
