package daemon

import (
	"strings"
	"testing"
)

// What is written is not read again, and two outputs are not one file. A source that
// reads its own output never ends; an input that is an output is cut.
func TestPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	f := func(want string, old, text string) {
		t.Helper()
		_, err := loaded(t, old, text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	const reads, same = "matches the include patterns of a source", "duplicate output path"
	f("", "discard: {}", `file: {path: out.txt}`)
	f("c.yaml:9:18: path: "+reads, "discard: {}", `file: {path: in/out.log}`)
	f("c.yaml:9:18: path: "+reads, "discard: {}", `file: {path: ./in/../in/out.log}`)
	f("c.yaml:9:18: path: "+reads, "discard: {}", `file: {path: "in/{source.relpath}.log"}`)
	f("", "discard: {}", `file: {path: "in/{source.relpath}.zst"}`)
	f("c.yaml:9:18: path: "+reads, "discard: {}", `file: {path: "in/{source.relpath}"}`)
	f("c.yaml:9:18: path: "+reads, "discard: {}", `file: {path: "in/{lane}"}`)
	f("c.yaml:9:18: path: "+reads, "discard: {}", `file: {path: "in/{time:%Y}/../{source.relpath}"}`)
	f("", "discard: {}", `file: {path: "out/{source.relpath}"}`)
	f("", `include: ["in/*.log"]`, "include: [\"in/*.log\"]\n      exclude: [\"in/out.*\"]")
	f("c.yaml:11:16: path: "+reads, "discard: {}", "discard: {}\ndead_letter:\n  file: {path: in/dead.log}")
	f("c.yaml:10:18: path: "+same, "discard: {}", "file: {path: a}\n  - file: {path: ./a}")
	f("c.yaml:10:28: path: "+same, "discard: {}", "file: {path: a}\ndead_letter: {file: {path: a}}")
	f("c.yaml:8:28: move_to: matches the include patterns of a file source", `include: ["in/*.log"]`, "include: [\"in/**/*.log\"]\n      on_finish: {move_to: in/done}")
	f("matches the include patterns of a file source", `include: ["in/*.log"]`, "include: [in]\n      on_finish: {move_to: in/done}")
	f("", `include: ["in/*.log"]`, "include: [\"in/*.log\"]\n      on_finish: {move_to: in/done}")
	f("", `include: ["in/*.log"]`, "include: [in]\n      exclude: [\"in/done/**\"]\n      on_finish: {move_to: in/done}")
	objects := strings.NewReplacer("file:", "s3:", "in/*.log", "s3://b/in").Replace(plain)
	f("path: "+reads, plain, strings.Replace(objects, "discard: {}", `s3: {path: "s3://b/in/out/{source.relpath}"}`, 1))
	f("", plain, strings.Replace(objects, "discard: {}", `s3: {path: "s3://b/out/{source.relpath}", exactly_once: true}`, 1))
	f("", "discard: {}", "file: {path: /dev/null}\n  - file: {path: /dev/null}")
	f("data_dir: "+reads, `include: ["in/*.log"]`, "include: [/var/lib/urlfold]")
	f("c.yaml:1:11: data_dir: "+reads, plain[:strings.Index(plain, "\nsinks")], "data_dir: in/state\nsources: [file: {from: lines, include: [in]}]")
}

// The name of an input makes the path of its output, so a template can name a
// file that the pattern of the input matches.
func TestSampleName(t *testing.T) {
	for pattern, want := range map[string]string{
		"in/*.log": "0.log", "in/**/*.log.gz": "0.log.gz", "in/a?.{log,txt}": "a0.log", "in": "in", "in/a.log": "a.log",
	} {
		if got := sampleName(pattern); got != want {
			t.Errorf("sampleName(%q) = %q, want %q", pattern, got, want)
		}
	}
}
