package file

import (
	"errors"
	"testing"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

func TestSettings(t *testing.T) {
	f := func(key string, change func(*Settings)) {
		t.Helper()
		s := DefaultSettings()
		s.Include = []string{"/var/log/*.log"}
		change(&s)
		err := s.Validate()
		var fe *field.Error
		if (err != nil) != (key != "") || err != nil && (!errors.As(err, &fe) || fe.Field != key) {
			t.Errorf("%q: %v", key, err)
		}
	}
	f("", func(*Settings) {})
	f("include[1]", func(s *Settings) { s.Include = []string{"a", "[a"} })
	f("exclude[0]", func(s *Settings) { s.Exclude = []string{""} })
	f("start", func(s *Settings) { s.Mode, s.Start = modeBatch, startEnd })
	f("", func(s *Settings) { s.Start = startEnd })
	f("shard", func(s *Settings) { s.Shard = Share{0, 2} })
	f("", func(s *Settings) { s.Mode, s.Shard = modeBatch, Share{0, 2} })
}

func TestCovers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	f := func(want bool, path string, include, exclude []string) {
		t.Helper()
		s := Settings{Include: include, Exclude: exclude}
		if got := s.Covers(path); got != want {
			t.Errorf("%s by %q without %q: %v", path, include, exclude, got)
		}
	}
	f(true, "in.log", []string{"other", "in.log"}, nil)
	f(true, "./in.log", []string{"in.log"}, nil)
	f(true, "in.log", []string{"./*.log"}, nil)
	f(true, dir+"/in.log", []string{"*.log"}, nil)
	f(true, "in.log", []string{dir + "/*.log"}, nil)
	f(true, "a/b/c", []string{"a"}, nil)
	f(true, "a/b/c", []string{"a/"}, nil)
	f(true, "a/b/c", []string{"a/**"}, nil)
	f(false, "a/b/c", []string{"a/*"}, nil)
	f(false, "ab", []string{"a"}, nil)
	f(false, "in.log.zst", []string{"*.log"}, nil)
	f(false, "a/out.txt", []string{"a"}, []string{"**/*.txt"})
	f(true, "a/out.txt", []string{"a"}, []string{"a"}) // exclude consists of globs of files
	f(false, "../in.log", []string{"**"}, nil)
	f(true, "[x]/a", []string{dir + `/\[x]/*`}, nil)
	f(true, "[x]/a/b", []string{dir + `/\[x]/a`}, nil)
	f(false, "x/a", []string{dir + `/\[x]/*`}, nil)
}

func TestOnFinishText(t *testing.T) {
	var o OnFinish
	if o.String() != keepFile {
		t.Errorf("zero value: %s", o)
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
		t.Error("move_to without a folder is accepted")
	}
	if s := (OnFinish{MoveTo: "x"}).String(); s != "move_to" {
		t.Error(s)
	}
}

func TestNewWatcher(t *testing.T) {
	if _, err := makeWatcher(WatchConfig{MaxRecord: -1}); err == nil || len(err.(interface{ Unwrap() []error }).Unwrap()) != 3 {
		t.Errorf("%v", err)
	}
}

// TestDefaultLimits compares the default limits of the configuration with those
// that package compress applies to zero values.
func TestDefaultLimits(t *testing.T) {
	want := compress.Limits{MaxRatio: compress.DefaultMaxRatio, MaxWindow: compress.DefaultMaxWindow}
	if got := decoding(field.DefaultLimits(), "").Limits; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
