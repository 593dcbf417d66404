package comments

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write comments.json")

// TestModule checks that every key of the configuration has a comment, and that
// the comments in the program are those in the code.
func TestModule(t *testing.T) {
	all, err := collect([]string{"../../../config", "../../../config/field", "../../../config/connect", "../../../sources/...", "../../../sinks/...", "../../..."})
	if err != nil {
		t.Error(err)
	}
	want, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("comments.json", want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("comments.json"); err != nil || string(got) != string(want) {
		t.Errorf("comments.json is not what the comments are now; go generate ./config makes it (%v)", err)
	}
}

func TestCollect(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.26\n")
	write("a/a.go", "package a\n\n// Config is\n// ours.\ntype Config struct {\n\t// First\n\t// of all.\n\tA int `yaml:\"a\"`\n\tB int `yaml:\"b\"` // Second.\n\t// CAFile is third.\n\tCAFile int `yaml:\"ca_file,required\"`\n\tC int\n\tD int `yaml:\"-\"`\n}\n\ntype None struct{ X int }\n")
	write("a/b/b.go", "package b\n\ntype Config struct {\n\tA int `yaml:\"a\"`\n\tB struct{} `yaml:\"b\"` // Nameless.\n}\n")
	all, err := collect([]string{root + "/a"})
	want := map[string]string{"example.com/m/a.Config": "Config is ours.", "example.com/m/a.Config.A": "First of all.", "example.com/m/a.Config.B": "Second.",
		"example.com/m/a.Config.CAFile": "ca_file is third."}
	if err != nil || len(all) != len(want) {
		t.Errorf("%v, %v", all, err)
	}
	for k, v := range want {
		if all[k] != v {
			t.Errorf("%s: %q, want %q", k, all[k], v)
		}
	}
	_, err = collect([]string{root + "/a/..."})
	for _, want := range []string{"b.go:4:2: example.com/m/a/b.Config.A has a tag but no comment", "b.go:5:4: anonymous structs are not supported"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
