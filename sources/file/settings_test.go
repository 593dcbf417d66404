package file

import (
	"errors"
	"testing"

	"github.com/urlfold/urlfold/internal/units"
)

func TestSettings(t *testing.T) {
	f := func(field string, change func(*Settings)) {
		t.Helper()
		s := DefaultSettings()
		s.Include = []string{"/var/log/*.log"}
		change(&s)
		err := s.Validate()
		var fe *units.FieldError
		if (err != nil) != (field != "") || err != nil && (!errors.As(err, &fe) || fe.Field != field) {
			t.Errorf("%q: %v", field, err)
		}
	}
	f("", func(*Settings) {})
	f("include", func(s *Settings) { s.Include = nil })
	f("include", func(s *Settings) { s.Include = []string{"[a"} })
	f("exclude", func(s *Settings) { s.Exclude = []string{""} })
	f("start", func(s *Settings) { s.Mode, s.Start = modeBatch, startEnd })
	f("", func(s *Settings) { s.Start = startEnd })
}

func TestOnFinishText(t *testing.T) {
	var o OnFinish
	if o.String() != keepFile {
		t.Errorf("the zero value is %s", o)
	}
	for _, text := range []string{keepFile, deleteFile} {
		if err := o.UnmarshalText([]byte(text)); err != nil || o.String() != text {
			t.Errorf("%s: %v, %v", text, o, err)
		}
		if b, err := o.MarshalText(); string(b) != text || err != nil {
			t.Errorf("%s, %v", b, err)
		}
	}
	if err := o.UnmarshalText([]byte("move_to")); err == nil {
		t.Error("move_to alone is taken")
	}
	if s := (OnFinish{MoveTo: "x"}).String(); s != "move_to" {
		t.Error(s)
	}
}

func TestNewWatcher(t *testing.T) {
	if _, err := NewWatcher(WatchConfig{MaxRecord: -1}); err == nil || len(err.(interface{ Unwrap() []error }).Unwrap()) != 4 {
		t.Errorf("%v", err)
	}
}
