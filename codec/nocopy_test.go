package codec

import (
	"reflect"
	"sync"
	"testing"
)

// TestResultNoCopy checks that a Result holds a lock, without memory: go vet
// reports copies of structs that do (copylocks).
func TestResultNoCopy(t *testing.T) {
	f := reflect.TypeFor[Result]().Field(0)
	if !reflect.PointerTo(f.Type).Implements(reflect.TypeFor[sync.Locker]()) || f.Type.Size() != 0 {
		t.Errorf("the first field is %v", f.Type)
	}
}
