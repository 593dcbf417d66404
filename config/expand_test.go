package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOneDocument: markers around the only document are no second document.
func TestOneDocument(t *testing.T) {
	for _, text := range []string{"---\n" + minimal, "# a comment\n---\n" + minimal, minimal + "...\n", "%YAML 1.2\n---\n" + minimal, minimal + "# end\n"} {
		if _, err := Parse("c", []byte(text), doubles(), testEnv()); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestExpandedValues: an error never shows an expanded value or a part of one,
// whatever key it is about, but its reference.
func TestExpandedValues(t *testing.T) {
	dir := t.TempDir()
	for _, value := range []string{"plain-secret-value", "s3cr\"et pass\tword \u00fc", "a == 1 && hidden_name == 2", "(unclosed[secret"} {
		name := filepath.Join(dir, "mounted")
		if err := os.WriteFile(name, []byte(value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		env := OS()
		env.Lookup = func(string) (string, bool) { return value, true }
		for _, reference := range []string{"${file:" + name + "}", "${VALUE}", "x${VALUE}y", "${VALUE:-z}"} {
			for _, key := range []string{"from", "dialect", "timezone", "query_encoding", "profile", "to", "key", "year", "base", "target"} {
				pair := key + ": '" + reference + "'"
				text := strings.Replace(minimal, "profile: equiv", pair, 1)
				if slices.Contains([]string{"from", "dialect", "timezone", "year", "base"}, key) {
					text = strings.Replace(minimal, "include", pair+", include", 1)
				}
				if key == "from" {
					text = strings.Replace(text, "from: lines, ", "", 1)
				}
				_, err := Parse("c", []byte(text), doubles(), env)
				if err != nil && share(strings.ReplaceAll(err.Error(), name, ""), value) {
					t.Errorf("%s: %q: %v", key, reference, err)
				}
			}
		}
	}
}

// TestReadValue: only regular files of at most 64 KiB are values.
func TestReadValue(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	good := filepath.Join(dir, "good")
	if err := os.WriteFile(good, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(good, link); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]string{os.DevNull: "not a regular file", "/dev/zero": "not a regular file", dir: "not a regular file", big: "larger than 64 KiB", good: "", link: ""} {
		x := expander{env: OS()}
		_, reason := x.expand("${file:"+name+"}", position{})
		if (reason == "") != (want == "") || !strings.Contains(reason, want) {
			t.Errorf("%s: %q, want %q", name, reason, want)
		}
	}
	if data, err := readValue(big); err != nil || len(data) != maxValue+1 {
		t.Errorf("%d bytes of a large file were read, %v", len(data), err)
	}
}
