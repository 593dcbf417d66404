package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestChanged: a change of each file that a configuration was loaded from is found once,
// also one that came while it was loaded.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("secret", "0123456789abcdef")
	write("list.txt", "a\n")
	write("profile.yaml", "name: shop\nbase: crawler\npolicy: {lists: [{plain: list.txt}]}\n")
	write("c.yaml", minimalHead+"codec: {profile: profile.yaml, hash: hmac-sha256, hmac_key: '${file:secret}'}\n")
	env := OS()
	read := env.ReadValue
	env.ReadValue = func(name string) ([]byte, error) {
		data, err := read(name)
		write("secret", "0123456789abcdefg")
		return data, err
	}
	f, err := Load(filepath.Join(dir, "c.yaml"), doubles(), env)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Changed() || f.Changed() {
		t.Error("a change while it was loaded is not found once")
	}
	for _, name := range []string{"c.yaml", "profile.yaml", "list.txt", "secret"} {
		write(name, "another length")
		if !f.Changed() || f.Changed() {
			t.Errorf("the change of %s is not found once", name)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if f.Changed() {
			t.Errorf("%s is gone, and counts as changed", name)
		}
	}
}
