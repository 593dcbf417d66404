package file_test

import (
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/sinks/file"
)

// parse parses the text that a user writes below "- file:".
func parse(section string) (*file.LogConfig, error) {
	newLog := func() any { c := file.DefaultLogConfig(); return &c }
	text := "version: 1\nsources: [{src: {from: lines}}]\ncodec: {profile: equiv}\nsinks:\n  - file: {" + section + "}\n"
	f, err := config.Parse("x.yaml", []byte(text), config.Types{
		Sources: map[string]func() any{"src": func() any { return new(struct{}) }},
		Sinks:   map[string]func() any{"file": newLog},
	}, config.Env{})
	if err != nil {
		return nil, err
	}
	return f.Sinks[0].Config.(*file.LogConfig), nil
}

func TestLogConfig(t *testing.T) {
	c, err := parse(`path: "/data/clean/{source.relpath}.zst", compress: zstd:3, exactly_once: true`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Compress != "zstd:3" || !c.ExactlyOnce || c.SyncInterval != 0 || c.Mode != 0o644 {
		t.Errorf("%+v", c)
	}
	c, err = parse(`path: "x-{seq}", compress: gzip, permissions: "0600", rotate: {size: 1GiB, every: 1h, records: 10}`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Compress != "gzip" || c.Mode != 0o600 || c.Rotate != (file.Rotation{Size: field.GiB, Every: time.Hour, Records: 10}) {
		t.Errorf("%+v", c)
	}
	if _, err := file.NewLog(*c); err != nil {
		t.Error(err)
	}
}

// TestLogConfigNames: an explicit compression permits any file name.
func TestLogConfigNames(t *testing.T) {
	for _, section := range []string{`path: "x.zstd", compress: zstd`, `path: "x.bz2", compress: none`, `path: "x.GZ"`, `path: "x.zst"`, `path: "x.log"`} {
		if _, err := parse(section); err != nil {
			t.Errorf("%s: %v", section, err)
		}
	}
}

func TestLogConfigMistakes(t *testing.T) {
	f := func(section, want string) {
		t.Helper()
		if _, err := parse(section); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", section, err, want)
		}
	}
	f(`compress: gzip`, "path")
	f(`path: "x-{sec}"`, "{sec}")
	f(`path: "x", rotate: {size: 1MiB}`, "{seq}")
	f(`path: "x.zstd"`, "a compression extension that cannot be written")
	f(`path: "{source.relpath}.bz2"`, "a compression extension that cannot be written")
	f(`path: "x", compress: lzma`, "must be none, gzip or zstd")
	f(`path: "x", compress: zstd:20`, "zstd level 20 out of range (must be 1 to 19)")
	f(`path: "x", compress: {zstd: {level: 3}}`, "compress")
	f(`path: "x", permissions: "888"`, "octal")
	f(`path: "x", sync_interval: 0s`, "between 1ms and 1m")
	f(`path: "x", resume: []`, "resume")

	if _, err := file.NewLog(file.LogConfig{Path: "{x}"}); err == nil || !strings.Contains(err.Error(), "path") {
		t.Errorf("NewLog: %v", err)
	}
}
