package daemon

import (
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

// Types returns the components that a configuration may name.
func Types() config.Types {
	t := config.Types{
		Sources:     map[string]func() any{},
		Sinks:       map[string]func() any{},
		DeadLetters: map[string]func() any{},
		Check:       func(f *config.File, sound func(string) bool) error { return prepare(f).check(sound) },
	}
	for name, s := range sources.Types {
		t.Sources[name] = s.Default
	}
	for name, s := range sinks.Types {
		t.Sinks[name] = s.Default
		t.DeadLetters[name] = s.Default
	}
	return t
}

// Load reads a configuration from a file, and checks all of it that can be checked
// without touching anything else. The error joins a *config.Error for each mistake.
func Load(path string) (*config.File, error) { return config.Load(path, Types(), config.OS()) }
