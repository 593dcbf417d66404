package file

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestTemplate(t *testing.T) {
	v := values{source: "web/1", rel: "a/b.log", lane: "topic[3]", time: time.Date(2026, 11, 7, 9, 5, 3, 0, time.FixedZone("", 3600)), seq: 12}
	f := func(text, want string) {
		t.Helper()
		tmpl, err := parseTemplate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := tmpl.path(v); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	f("/x/out.log", "/x/out.log")
	f("/x/{source.relpath}.zst", "/x/a/b.log.zst")
	f("./x//{lane}/{seq}", "x/topic[3]/0012")
	f("{source.name}-{time}", "web_1-20261107T080503Z")
	f("{time:%Y/%m/%d}/{time:%H%M%S-1-%j-%y}.log", "2026/11/07/080503-1-311-26.log")
	f("{time:2006-01-02}.log", "2026-11-07.log")
	f("{{}seq{}}/{seq}", "{seq}/0012")
}

func TestTemplateMistakes(t *testing.T) {
	for _, text := range []string{"", "x/", "{", "}", "x{lane", "lane}", "{}", "{topic}", "{seq:3}", "{time:}", "{time:%}", "{time:%Q}", "{lane}{", "{{lane}}"} {
		if tmpl, err := parseTemplate(text); err == nil {
			t.Errorf("%q is accepted: %+v", text, tmpl)
		}
	}
}

func TestTemplateDir(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		tmpl, err := parseTemplate(text)
		must(t, err)
		if got := tmpl.dir(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	f("/x/out.log", "/x")
	f("out.log", ".")
	f("/x/y-{seq}", "/x")
	f("/{{}x{}}/y-{seq}", "/{x}")
	f("/{{}x{}}/y", "/{x}")
	f("/{lane}", "/")
	f("{lane}/x", ".")
}

// TestSafeNames: no input can lead out of the directory of the outputs.
func TestSafeNames(t *testing.T) {
	f := func(rel, want string) {
		t.Helper()
		if got := safePath(rel); got != want {
			t.Errorf("%q: %q, want %q", rel, got, want)
		}
	}
	f("a/b", "a/b")
	f("../../etc/passwd", "etc/passwd")
	f("/etc/passwd", "etc/passwd")
	f("a/../../b", "b")
	f(`..\..\b`, `_._.._b`)
	f("", "_")
	f(".", "_")
	f("..", "_")
	f(".hidden", "_hidden")
	f("a\x00b\nc", "a_b_c")
	f("a\xff", "a_")
	f("ä/日本", "ä/日本")
	long := strings.Repeat("ä", 150)
	if a, b := SafeName(long+"a"), SafeName(long+"b"); a == b || len(a) > 200 || !utf8.ValidString(a) {
		t.Errorf("long names: %q, %q", a, b)
	}
	for name, want := range map[string]string{"a.log.gz": "a.log", "a.ZST": "a", ".gz": ".gz", "d/.gz": "d/.gz", "a.log": "a.log"} {
		if got := cutCompressed(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{"d.x/a.log.zst": "d.x/a-2.log.zst", "a": "a-2", ".a": ".a-2", "a.gz": "a-2.gz", "d/a.b.c": "d/a.b-2.c"} {
		if got := numbered(name, 2); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestFiles: of the files that match the glob pattern, only those count that
// can come from the template.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[x]*")
	must(t, os.Mkdir(dir, 0o755))
	for _, name := range []string{"a-0001.log", "a-0007.log.part", "a-12345.log", "a-x.log", "a-1.log", "b-0001.log", "a-0001.log.gz"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	tmpl, err := parseTemplate(dir + "/{lane}-{seq}.log")
	must(t, err)
	v := values{lane: "a"}
	finished, unfinished := tmpl.files(&v)
	if want := []string{dir + "/a-0001.log", dir + "/a-12345.log"}; !slices.Equal(finished, want) {
		t.Errorf("finished %v", finished)
	}
	if want := []string{dir + "/a-0007.log"}; !slices.Equal(unfinished, want) {
		t.Errorf("unfinished %v", unfinished)
	}
	if finished, _ := tmpl.files(nil); len(finished) != 3 {
		t.Errorf("of all lanes %v", finished)
	}
	if n := tmpl.lastSeq(v); n != 12345 {
		t.Errorf("the last number is %d", n)
	}
	if n := tmpl.lastSeq(values{lane: "c"}); n != 0 {
		t.Errorf("the last number without files is %d", n)
	}
}
