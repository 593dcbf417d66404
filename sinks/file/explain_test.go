package file

import (
	"strings"
	"syscall"
	"testing"
)

// An error names NAME.part only if there is one: Abort removes it if nothing
// was written.
func TestExplain(t *testing.T) {
	s := &sink{part: &part{name: "a.part"}}
	if err := s.explain(syscall.ENOSPC); strings.Contains(err.Error(), "partial output") {
		t.Errorf("nothing was written: %v", err)
	}
	s.written.Store(1)
	if err := s.explain(syscall.ENOSPC); !strings.Contains(err.Error(), "(partial output is in a.part)") {
		t.Errorf("error %v", err)
	}
}
