package config

import (
	"os"
	"testing"
)

func TestLocate(t *testing.T) {
	type places struct {
		File     string   `yaml:"file" path:"file"`
		Glob     []string `yaml:"glob" path:"glob"`
		Template string   `yaml:"template" path:"template"`
		Exclude  []string `yaml:"exclude" path:"exclude"`
		Listen   string   `yaml:"listen" path:"listen"`
	}
	f := func(dir, text string, want places) {
		t.Helper()
		types := Types{Sources: map[string]func() any{"test": func() any { return new(places) }}}
		types.Sinks = types.Sources
		file, err := Parse(dir+"/u.yaml", []byte("sources: [{test: {from: lines, "+text+"}}]\nsinks: [{test: {}}]\n"), types, Env{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			return
		}
		same(t, text, file.Sources[0].Config, any(&want))
	}
	f("/etc/u", "file: a/b, glob: [logs/, s3://b/k, /x/*]", places{File: "/etc/u/a/b", Glob: []string{"/etc/u/logs/", "s3://b/k", "/x/*"}})
	f("/etc/u", `exclude: ["*.tmp", "**/*.tmp", old/*, ../x/y]`, places{Exclude: []string{"*.tmp", "**/*.tmp", "/etc/u/old/*", "/etc/u/../x/y"}})
	f("/etc/{u}", "template: '{seq}', file: a", places{Template: "/etc/{{}u{}}/{seq}", File: "/etc/{u}/a"})
	f("/etc/u", "listen: unix:run/s", places{Listen: "unix:/etc/u/run/s"})
	f("/etc/u", "listen: localhost:80, file: ''", places{Listen: "localhost:80"})
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	f(".", "file: ./a, listen: unix:s", places{File: wd + "/./a", Listen: "unix:" + wd + "/s"})
	f("/etc/[u]", "file: a, glob: [a/*]", places{File: "/etc/[u]/a", Glob: []string{`/etc/\[u]/a/*`}})
	f(`/etc/{u}\v`, "glob: [a/*]", places{Glob: []string{`/etc/\{u\}\\v/a/*`}})
}
